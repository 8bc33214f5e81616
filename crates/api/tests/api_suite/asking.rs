//! Requests as clients send them, and the answers they get.

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use seckill_api::Body;
use serde_json::Value;
use tower::ServiceExt;

use crate::house::House;
use crate::pieces::Pieces;

/// A request in the making.
pub(crate) struct Asking<'a> {
    house: &'a House,
    host: u8,
    method: Method,
    path: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Pieces,
}

impl House {
    pub(crate) fn get(&self, path: impl Into<String>) -> Asking<'_> {
        self.ask(Method::GET, path)
    }

    pub(crate) fn post(&self, path: impl Into<String>) -> Asking<'_> {
        self.ask(Method::POST, path)
    }

    pub(crate) fn ask(&self, method: Method, path: impl Into<String>) -> Asking<'_> {
        Asking {
            house: self,
            host: 1,
            method,
            path: path.into(),
            headers: Vec::new(),
            body: Pieces::new([]),
        }
    }

    /// A purchase of one unit.
    pub(crate) fn buy(&self, id: impl std::fmt::Display, user: &str) -> Asking<'_> {
        self.post(format!("/api/seckill/{id}")).user(user)
    }

    pub(crate) fn result(&self, id: impl std::fmt::Display, user: &str) -> Asking<'_> {
        self.get(format!("/api/seckill/result/{id}")).user(user)
    }
}

impl Asking<'_> {
    /// Comes from `10.0.0.host`.
    pub(crate) fn from(mut self, host: u8) -> Self {
        self.host = host;
        self
    }

    pub(crate) fn user(self, user: &str) -> Self {
        let token = self.house.token(user);
        self.header(AUTHORIZATION.as_str(), format!("Bearer {token}"))
    }

    pub(crate) fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// A JSON body.
    pub(crate) fn json(self, body: impl AsRef<[u8]>) -> Self {
        self.header(CONTENT_TYPE.as_str(), "application/json").raw(body)
    }

    /// A body without a word about its type.
    pub(crate) fn raw(mut self, body: impl AsRef<[u8]>) -> Self {
        self.body = Pieces::whole(Bytes::copy_from_slice(body.as_ref()));
        self
    }

    pub(crate) fn pieces(mut self, body: Pieces) -> Self {
        self.body = body;
        self
    }

    /// The response before its body is read.
    pub(crate) async fn open(self) -> http::Response<Body> {
        let mut request = Request::builder()
            .method(self.method)
            .uri(self.path)
            .header("host", "127.0.0.1:8080");
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        let request = request.body(self.body).expect("a request");
        let connection = self.house.api.connection(House::peer(self.host));
        let Ok(response) = connection.oneshot(request).await;
        response
    }

    pub(crate) async fn send(self) -> Reply {
        let (head, body) = self.open().await.into_parts();
        let body = body.collect().await.expect("a whole body").to_bytes();
        Reply {
            status: head.status,
            headers: head.headers,
            json: serde_json::from_slice(&body).unwrap_or(Value::Null),
            body,
        }
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) json: Value,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn code(&self) -> u64 {
        self.json["code"]
            .as_u64()
            .unwrap_or_else(|| panic!("no code: {self:?}"))
    }

    pub(crate) fn data(&self) -> &Value {
        &self.json["data"]
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }

    /// Status and code, and whatever must hold of every answer.
    #[track_caller]
    pub(crate) fn is(&self, status: u16, code: u64) -> &Self {
        assert_eq!((self.status.as_u16(), self.code()), (status, code), "{self:?}");
        assert!(self.header("server-time").parse::<i64>().is_ok(), "{self:?}");
        assert_eq!(
            self.header("x-request-id"),
            self.json["request_id"].as_str().expect("a request id")
        );
        if matches!(status, 429 | 503) || code == 40001 {
            assert!(
                self.header("retry-after")
                    .parse::<u64>()
                    .is_ok_and(|seconds| 1 <= seconds),
                "{self:?}"
            );
        }
        if 400 <= status {
            assert_eq!(self.header("content-type"), "application/problem+json");
            assert_eq!(self.json["status"], status);
            for member in ["type", "title", "detail", "message"] {
                assert!(self.json[member].is_string(), "{member}: {self:?}");
            }
        } else {
            assert_eq!(self.header("content-type"), "application/json");
        }
        self
    }
}
