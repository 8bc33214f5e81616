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
use crate::{activities, buy, count, result, signed};

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
            router: router(state.storefront, state.shared.gate.clients()),
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
        let told = Told {
            has_key: headers.has_key,
            has_client: headers.has_client,
        };
        let method = request.method().clone();
        let hot = Hot::of(&method, request.uri().path());
        let route = hot.map_or(usize::MAX, |hot| hot_routes[hot as usize]);
        Answering::begin(call, caller, method, route, |call, caller| {
            if let Some(outcome) = cors::early(request.method(), request.headers(), caller) {
                if let (Some(Hot::Buy), Err(error)) = (hot, &outcome) {
                    count::purchase_refused(call, None, error);
                }
                return Work::Done(Some(outcome));
            }
            if *request.method() == Method::CONNECT {
                return Work::Done(Some(Ok(Answer::to_connect())));
            }
            begin(call, hot, told, router, request)
        })
    }
}

/// What a head says to have, for hot routes.
struct Told {
    has_key: bool,
    has_client: bool,
}

/// Brings a request to its handler.
fn begin<B: Incoming + 'static>(
    call: &Call,
    hot: Option<Hot>,
    Told { has_key, has_client }: Told,
    router: &Router,
    mut request: Request<B>,
) -> Work {
    let Some(hot) = hot else {
        request.extensions_mut().insert(call.clone());
        return Work::Cold(Box::new(router.clone().call(request)));
    };
    match hot.user_route() {
        Some(route) if has_client && !call.shared().gate.clients().is_empty() => {
            signed::begin(call, (hot, route), has_key, request)
        }
        _ => begin_hot(call, hot, has_key, request),
    }
}

/// Does what is asked on a hot route, its signature aside.
pub(crate) fn begin_hot(call: &Call, hot: Hot, has_key: bool, request: Request<impl Incoming + 'static>) -> Work {
    match hot {
        Hot::Buy if request.body().is_end_stream() => buy::begin(call, has_key, &request),
        Hot::Buy => {
            let (head, body) = request.into_parts();
            Work::Hot(Box::pin(buy::buy(call.clone(), head, body)))
        }
        Hot::Result => Work::Hot(Box::pin(result::result(call.clone(), request.into_parts().0))),
        Hot::Activity => Work::Done(Some(activities::activity(call, &request.into_parts().0))),
    }
}
