//! The articles' algorithm over HTTP. It knows purchases, and nothing else of the product's API.

use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError, Script};
use seckill_bench::naive::{SCRIPT, keys};
use seckill_gate::{Verifiers, bearer_of};
use seckill_listener::{Body, Peer};
use seckill_sale::{Clock as _, SystemClock};
use tokio::sync::OnceCell;
use tower::Service;

/// Commands that may wait in a connection, as many as in the product's.
const PIPELINE_SIZE: usize = 1_024;
const BUY: &str = "/api/seckill/";

/// What all cores share.
pub(super) struct Shared {
    pub(super) verifiers: Verifiers,
    pub(super) client: Client,
}

/// What one core has: a connection that its buyers share, made when the first of them comes.
pub(super) struct Core {
    shared: Arc<Shared>,
    connection: OnceCell<MultiplexedConnection>,
    script: Script,
}

impl Core {
    /// Makes services, one for each connection of a client.
    pub(super) fn start(shared: Arc<Shared>) -> impl Fn(Peer) -> Naive + 'static {
        let core = Rc::new(Self {
            shared,
            connection: OnceCell::new(),
            script: Script::new(SCRIPT),
        });
        move |_| Naive(core.clone())
    }

    async fn answer(&self, request: &Request<Body>) -> Response<Full<Bytes>> {
        let sale = request.uri().path().strip_prefix(BUY);
        let Some(sale) = sale
            .filter(|_| request.method() == Method::POST)
            .and_then(|sale| sale.parse().ok())
        else {
            return said(StatusCode::NOT_FOUND, 40400, "", "");
        };
        let identity =
            bearer_of(request.headers()).and_then(|token| self.shared.verifiers.verify(token, SystemClock.now()));
        let Ok(identity) = identity else {
            return said(StatusCode::UNAUTHORIZED, 40100, "", "");
        };
        let id = format!("{:026x}", rand::random::<u64>());
        match self.buy(sale, identity.user.as_str(), &id).await {
            Ok(1) => said(StatusCode::ACCEPTED, 0, &id, &id),
            Ok(0) => said(StatusCode::GONE, 40005, "", &id),
            Ok(_) => said(StatusCode::CONFLICT, 40004, "", &id),
            Err(_) => said(StatusCode::SERVICE_UNAVAILABLE, 50300, "", &id),
        }
    }

    async fn buy(&self, sale: u64, user: &str, request: &str) -> Result<i64, RedisError> {
        let open = || {
            let config = AsyncConnectionConfig::new().set_pipeline_buffer_size(PIPELINE_SIZE);
            async move {
                let client = &self.shared.client;
                client.get_multiplexed_async_connection_with_config(&config).await
            }
        };
        let mut connection = self.connection.get_or_try_init(open).await?.clone();
        let mut call = self.script.key(&keys(sale)[..]);
        call.arg(user).arg(request).invoke_async(&mut connection).await
    }
}

/// As long as the product's answer.
fn said(status: StatusCode, code: i32, ticket: &str, request: &str) -> Response<Full<Bytes>> {
    let body = format!(
        "{{\"code\":{code},\"message\":\"your purchase is in the queue\",\"data\":{{\"ticket\":\"{ticket}\"}},\"request_id\":\"{request}\"}}"
    );
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// The service of one client's connection.
#[derive(Clone)]
pub(super) struct Naive(Rc<Core>);

impl Service<Request<Body>> for Naive {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>>>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let core = self.0.clone();
        Box::pin(async move { Ok(core.answer(&request).await) })
    }
}
