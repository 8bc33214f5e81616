//! What the listener calls: one thin service around all handlers. It gives a request its id and language, looks at its origin, counts
//! it, and turns a panic into an answer. No stack of middleware: what happens to a request is read here from top to bottom.

use std::any::Any;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use axum::Router;
use axum::response::Response as RouterResponse;
use axum::routing::future::RouteFuture;
use http::{HeaderMap, Method, Request, Response};
use seckill_sale::EpochMs;
use tower::Service;

use crate::answer::{Answer, Pending, stamp};
use crate::body::Body;
use crate::call::Call;
use crate::cors::{self, Caller};
use crate::error::Error;
use crate::extract::Incoming;
use crate::router::{Hot, Named, router};
use crate::state::{Core, CoreState};
use crate::{activities, buy, result};

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
        let call = Call::new(core, self.peer.ip(), request.headers());
        let caller = core.shared.origins.caller(request.headers());
        let method = request.method().clone();
        let hot = Hot::of(&method, request.uri().path());
        let route = hot.map_or(usize::MAX, |hot| hot_routes[hot as usize]);
        let work = match cors::early(&method, request.headers(), &caller) {
            Some(outcome) => Work::Done(Some(outcome)),
            None => begin(&call, hot, router, request),
        };
        Answering::new(call, caller, method, route, work)
    }
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

type Outcome = Result<Answer, Error>;

enum Work {
    Done(Option<Outcome>),
    Hot(Pin<Box<dyn Future<Output = Outcome> + Send>>),
    /// Boxed, so that hot answers are not moved about with room for it.
    Cold(Box<RouteFuture<Infallible>>),
}

enum Done {
    Answered(Outcome),
    Routed(RouterResponse),
}

impl Work {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Done> {
        match self {
            Self::Done(outcome) => Poll::Ready(Done::Answered(outcome.take().unwrap_or(Err(Error::Internal)))),
            Self::Hot(handler) => handler.as_mut().poll(context).map(Done::Answered),
            Self::Cold(route) => Pin::new(&mut **route)
                .poll(context)
                .map(|Ok(response)| Done::Routed(response)),
        }
    }
}

/// An answer on its way.
pub struct Answering {
    call: Call,
    caller: Caller,
    method: Method,
    route: usize,
    started: Instant,
    work: Work,
}

impl Answering {
    fn new(call: Call, caller: Caller, method: Method, route: usize, work: Work) -> Self {
        call.shared().metrics.in_flight.inc(call.core.index);
        Self {
            call,
            caller,
            method,
            route,
            started: Instant::now(),
            work,
        }
    }

    fn finish(&mut self, done: Done) -> Response<Body> {
        let now = self.call.shared().stock.now();
        let mut response = match done {
            Done::Answered(outcome) => self.render(outcome, now, HeaderMap::new()),
            Done::Routed(response) => self.routed(response, now),
        };
        cors::open(response.headers_mut(), std::mem::replace(&mut self.caller, Caller::Own));
        let status = response.status().as_u16();
        let metrics = &self.call.shared().metrics;
        metrics.answered(
            self.call.core.index,
            self.route,
            self.method.as_str(),
            status,
            self.started.elapsed(),
        );
        tracing::debug!(request_id = %self.call.request_id, method = %self.method, status, "answered");
        response
    }

    fn render(&self, outcome: Outcome, now: EpochMs, others: HeaderMap) -> Response<Body> {
        let answer = outcome.unwrap_or_else(|error| error.answer(now));
        answer.render(&self.call.request_id, self.call.language, now, others)
    }

    fn routed(&mut self, mut response: RouterResponse, now: EpochMs) -> Response<Body> {
        if let Some(Named(name)) = response.extensions().get() {
            self.route = self.call.shared().metrics.http_requests.route(name);
        }
        let pending = response.extensions_mut().remove::<Pending>();
        let (head, body) = response.into_parts();
        if let Some(pending) = pending {
            return self.render(Ok(pending.answer(now)), now, head.headers);
        }
        let mut response = Response::from_parts(head, Body::stream(body));
        stamp(response.headers_mut(), &self.call.request_id, now);
        response
    }

    fn panicked(&self, panic: &(dyn Any + Send)) -> Done {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let what = text
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no text");
        tracing::error!(request_id = %self.call.request_id, method = %self.method, panic = what, "a handler panicked");
        self.call.shared().panics.inc(self.call.core.index);
        Done::Answered(Err(Error::Internal))
    }
}

impl Future for Answering {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        // A handler that panicked is dropped with this future and never polled again.
        let polled = catch_unwind(AssertUnwindSafe(|| this.work.poll(context)));
        let done = match polled {
            Ok(poll) => ready!(poll),
            Err(panic) => this.panicked(&*panic),
        };
        Poll::Ready(Ok(this.finish(done)))
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.call.shared().metrics.in_flight.dec(self.call.core.index);
    }
}
