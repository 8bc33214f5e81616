//! What the listener calls: one thin service around all handlers. It gives a request its id and language, looks at its origin, counts
//! it, and turns a panic into an answer. No stack of middleware: what happens to a request is read here from top to bottom.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use http::{Method, Request, Response};
use tower::Service;

use crate::answer::Answer;
use crate::answering::{Answering, Work};
use crate::body::Body;
use crate::call::Call;
use crate::cors;
use crate::extract::Incoming;
use crate::headers::Headers;
use crate::router::{Hot, router};
use crate::state::{Core, CoreState};
use crate::{activities, buy, result, signed};

/// The API of one core.
#[derive(Clone)]
pub struct Api(Arc<Inner>);

struct Inner {
    core: Arc<Core>,
    router: Router,
    /// Indexes of the hot routes in the metrics, in the order of [`Hot::ALL`].
    hot_routes: [usize; 3],
}

impl Api {
    /// The API of the core that `state` belongs to.
    #[must_use]
    pub fn new(state: CoreState) -> Self {
        let requests = &state.shared.metrics.http_requests;
        let hot_routes = Hot::ALL.map(|hot| requests.route(hot.name()));
        Self(Arc::new(Inner {
            router: router(state.storefront),
            hot_routes,
            core: Arc::new(Core::new(state.shared, state.purchase, state.index)),
        }))
    }

    /// The service of one connection.
    #[must_use]
    pub fn connection(&self, peer: SocketAddr) -> Connection {
        Connection {
            api: self.clone(),
            peer,
        }
    }
}

/// The API as one client sees it.
#[derive(Clone)]
pub struct Connection {
    api: Api,
    peer: SocketAddr,
}

impl<B: Incoming + 'static> Service<Request<B>> for Connection {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answering;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Answering {
        let Inner {
            core,
            router,
            hot_routes,
        } = &*self.api.0;
        let headers = Headers::of(request.headers());
        let call = Call::new(core, self.peer.ip(), headers);
        let caller = core.shared.origins.caller(headers.origin, request.headers());
        let (has_key, has_client) = (headers.has_key, headers.has_client);
        let method = request.method().clone();
        let hot = Hot::of(&method, request.uri().path());
        let route = hot.map_or(usize::MAX, |hot| hot_routes[hot as usize]);
        Answering::begin(call, caller, method, route, |call, caller| {
            if let Some(outcome) = cors::early(request.method(), request.headers(), caller) {
                return Work::Done(Some(outcome));
            }
            if *request.method() == Method::CONNECT {
                return Work::Done(Some(Ok(Answer::to_connect())));
            }
            if has_client && signed::is_signed(call, request.uri().path()) {
                return signed::begin(call, hot, has_key, router, request);
            }
            handle(call, hot, has_key, router, request)
        })
    }
}

/// Does what a request asks for, its signature aside.
pub(crate) fn handle(
    call: &Call,
    hot: Option<Hot>,
    has_key: bool,
    router: &Router,
    request: Request<impl Incoming + 'static>,
) -> Work {
    if hot == Some(Hot::Buy) && request.body().is_end_stream() {
        return buy::begin(call, has_key, &request);
    }
    begin(call, hot, router, request)
}

/// Brings a request to its handler.
fn begin(call: &Call, hot: Option<Hot>, router: &Router, mut request: Request<impl Incoming + 'static>) -> Work {
    match hot {
        Some(Hot::Buy) => {
            let (head, body) = request.into_parts();
            Work::Hot(Box::pin(buy::buy(call.clone(), head, body)))
        }
        Some(Hot::Result) => Work::Hot(Box::pin(result::result(call.clone(), request.into_parts().0))),
        Some(Hot::Activity) => Work::Done(Some(activities::activity(call, &request.into_parts().0))),
        None => {
            request.extensions_mut().insert(call.clone());
            Work::Cold(Box::new(router.clone().call(request)))
        }
    }
}
