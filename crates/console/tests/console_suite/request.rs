//! A request to a house, and what came back.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use bytes::Bytes;
use http::request::Builder;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use seckill_console::{Connection, Console, router};
use serde_json::Value;
use tower::ServiceExt;

use crate::house::{House, TOKEN};

pub(crate) struct Asking {
    request: Builder,
    headers: HeaderMap,
    body: Vec<u8>,
    client: IpAddr,
    router: Router,
}

impl Asking {
    /// A request from this machine without any header.
    pub(crate) fn new(house: &House, request: Builder) -> Self {
        Self {
            router: house.router.clone(),
            request,
            headers: HeaderMap::new(),
            body: Vec::new(),
            client: IpAddr::V4(Ipv4Addr::LOCALHOST),
        }
    }

    pub(crate) fn operator(self) -> Self {
        self.header("authorization", &format!("Bearer {TOKEN}"))
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.append(name, value.parse().expect("a header"));
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json")
            .bytes(body.to_string().as_bytes())
    }

    pub(crate) fn bytes(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self
    }

    pub(crate) fn from(mut self, client: &str) -> Self {
        self.client = client.parse().expect("an address");
        self
    }

    /// At another node.
    pub(crate) fn at(mut self, console: &Arc<Console>) -> Self {
        self.router = router(console.clone());
        self
    }

    pub(crate) async fn send(self) -> Reply {
        let mut request = self.request.body(Body::from(self.body)).expect("a request");
        *request.headers_mut() = self.headers;
        let connection = Connection::new(self.router, self.client);
        let response = connection.oneshot(request).await.expect("never fails");
        let (head, mut body) = response.into_parts();
        let is_stream = head
            .headers
            .get("content-type")
            .is_some_and(|kind| kind == "text/event-stream");
        let bytes = if is_stream {
            // It has no end; its first piece will do.
            next_piece(&mut body).await.unwrap_or_default()
        } else {
            to_bytes(body, usize::MAX).await.expect("a body")
        };
        Reply {
            status: head.status,
            headers: head.headers,
            json: serde_json::from_slice(&bytes).unwrap_or_default(),
            text: String::from_utf8(bytes.to_vec()).expect("UTF-8"),
        }
    }
}

/// The next piece of a stream; none at its end.
pub(crate) async fn next_piece(body: &mut Body) -> Option<Bytes> {
    let frame = body.frame().await?.expect("streams do not fail");
    Some(frame.into_data().expect("no trailers"))
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) json: Value,
    pub(crate) text: String,
}

impl Reply {
    /// Checks status, code, and what every answer has.
    #[track_caller]
    pub(crate) fn is(&self, status: u16, code: u64) -> &Self {
        assert_eq!(
            (self.status.as_u16(), self.json["code"].as_u64()),
            (status, Some(code)),
            "{self:?}"
        );
        assert_eq!(
            self.headers["x-request-id"],
            self.json["request_id"].as_str().expect("an id")
        );
        assert!(self.headers.contains_key("server-time"), "{self:?}");
        if matches!(status, 429 | 503) {
            let seconds: u64 = self.header("retry-after").parse().expect("seconds");
            assert!(1 <= seconds, "{self:?}");
        }
        self
    }

    pub(crate) fn data(&self) -> &Value {
        &self.json["data"]
    }

    #[track_caller]
    pub(crate) fn id(&self) -> u64 {
        self.data()["id"].as_u64().expect("an id")
    }

    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .expect("the header is there")
            .to_str()
            .expect("text")
    }

    /// Whether it says that the request was carried out before.
    pub(crate) fn is_replayed(&self) -> bool {
        self.headers
            .get("idempotency-replayed")
            .is_some_and(|value| value == "true")
    }
}
