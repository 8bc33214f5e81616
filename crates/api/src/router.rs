//! The list of routes.
//!
//! Three of them are hot: a hundred thousand requests within the first second of a sale. They are told by method and path and go straight
//! to their handler; all others, and odd requests to these, go through axum. Which of them a client may sign for a user stands here, too.

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use http::Method;
use http::request::Parts;
use seckill_gate::Clients;
use tower::util::MapResponseLayer;

use crate::answer::Answer;
use crate::call::Call;
use crate::error::Error;
use crate::signed::{UserRoute, may_be_signed};
use crate::{
    activities, buy, codes, events, health, legacy, openapi, orders, page, purchase_token, result, socket, time,
    webhook,
};

/// Names of the routes as metrics show them; whatever is no route is counted as `other`.
pub const ROUTES: &[&str] = &[
    ACTIVITIES, ACTIVITY, BUY, CANCEL, CODES, DOCS, EVENTS, HEALTHZ, INDEX, LEGACY, OPENAPI, ORDER, ORDERS, PAY,
    READYZ, RESULT, SOCKET, TIME, TOKEN, WEBHOOK,
];

const ACTIVITIES: &str = "/api/activities";
const ACTIVITY: &str = "/api/activities/{id}";
const BUY: &str = "/api/seckill/{activity_id}";
const CANCEL: &str = "/api/orders/{order_no}/cancel";
const CODES: &str = "/api/codes";
const DOCS: &str = "/docs";
const EVENTS: &str = "/api/seckill/events/{activity_id}";
const HEALTHZ: &str = "/healthz";
const INDEX: &str = "/";
const LEGACY: &str = "/seckill";
const OPENAPI: &str = "/openapi.json";
const ORDER: &str = "/api/orders/{order_no}";
const ORDERS: &str = "/api/orders";
const PAY: &str = "/api/orders/{order_no}/pay";
const READYZ: &str = "/readyz";
const RESULT: &str = "/api/seckill/result/{activity_id}";
const SOCKET: &str = "/api/seckill/ws/{activity_id}";
const TIME: &str = "/api/time";
const TOKEN: &str = "/api/seckill/{activity_id}/token";
const WEBHOOK: &str = "/api/payments/webhook";

/// All routes, and the storefront's in the place of the plain page at `/`. Handlers take the [`Call`] that stands in the request's extensions.
/// Where `clients` may sign for users, the routes of those look at signatures.
pub(crate) fn router(storefront: Option<Router>, clients: &Clients) -> Router {
    let users = |name, route, methods| match clients.is_empty() {
        true => named(name, methods),
        false => named(name, may_be_signed(route, methods)),
    };
    let api = Router::new()
        .route(ACTIVITIES, named(ACTIVITIES, get(activities::activities)))
        .route(ACTIVITY, named(ACTIVITY, get(activity)))
        .route(BUY, users(BUY, UserRoute::Buy, post(buy)))
        .route(TOKEN, users(TOKEN, UserRoute::Token, post(purchase_token::token)))
        .route(RESULT, users(RESULT, UserRoute::Read, get(result::result)))
        .route(EVENTS, users(EVENTS, UserRoute::Read, get(events::events)))
        .route(SOCKET, users(SOCKET, UserRoute::Read, get(socket::socket)))
        .route(ORDERS, users(ORDERS, UserRoute::Read, get(orders::list)))
        .route(ORDER, users(ORDER, UserRoute::Read, get(orders::one)))
        .route(PAY, users(PAY, UserRoute::Read, post(orders::pay)))
        .route(CANCEL, users(CANCEL, UserRoute::Read, post(orders::cancel)))
        .route(WEBHOOK, named(WEBHOOK, post(webhook::webhook)))
        .route(LEGACY, named(LEGACY, post(legacy::legacy)))
        .route(TIME, named(TIME, get(time::time)))
        .route(CODES, named(CODES, get(codes::codes)))
        .route(HEALTHZ, named(HEALTHZ, get(health::healthz)))
        .route(READYZ, named(READYZ, get(health::readyz)))
        .route(OPENAPI, named(OPENAPI, get(openapi::document)))
        .route(DOCS, named(DOCS, get(page::docs)))
        .route("/docs.js", named(DOCS, get(page::script)))
        .route("/docs.css", named(DOCS, get(page::style)));
    let pages = storefront.unwrap_or_else(|| Router::new().route(INDEX, named(INDEX, get(page::index))));
    api.merge(pages).fallback(async || Error::UnknownPath)
}

/// Name of the route that made a response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named(pub(crate) &'static str);

/// A route whose responses carry its name, and which answers other methods in the form of all errors.
fn named(name: &'static str, methods: MethodRouter) -> MethodRouter {
    let mark = move |mut response: Response| {
        response.extensions_mut().insert(Named(name));
        response
    };
    methods
        .fallback(async || Error::MethodNotAllowed)
        .layer(MapResponseLayer::new(mark))
}

async fn buy(call: Call, request: Request) -> Result<Answer, Error> {
    let (head, body) = request.into_parts();
    buy::buy(call, head, body).await
}

async fn activity(call: Call, head: Parts) -> Result<Answer, Error> {
    activities::activity(&call, &head)
}

/// A request that is told by its method and path alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hot {
    Buy,
    Result,
    Activity,
}

impl Hot {
    pub(crate) const ALL: [Self; 3] = [Self::Buy, Self::Result, Self::Activity];

    /// Which of the hot routes this is, if any.
    pub(crate) fn of(method: &Method, path: &str) -> Option<Self> {
        let rest = path.strip_prefix("/api/")?;
        let (hot, id) = match *method {
            Method::POST => (Self::Buy, rest.strip_prefix("seckill/")?),
            Method::GET => match rest.strip_prefix("seckill/result/") {
                Some(id) => (Self::Result, id),
                None => (Self::Activity, rest.strip_prefix("activities/")?),
            },
            _ => return None,
        };
        let one_segment = !id.is_empty() && !id.contains('/');
        one_segment.then_some(hot)
    }

    /// Whether it is a user's, for whom a client may have signed.
    pub(crate) const fn user_route(self) -> Option<UserRoute> {
        match self {
            Self::Buy => Some(UserRoute::Buy),
            Self::Result => Some(UserRoute::Read),
            Self::Activity => None,
        }
    }

    /// Its name among the [`ROUTES`].
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Buy => BUY,
            Self::Result => RESULT,
            Self::Activity => ACTIVITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hot_routes_are_told_by_method_and_path() {
        for (method, path, expect) in [
            (Method::POST, "/api/seckill/7", Some(Hot::Buy)),
            (Method::GET, "/api/seckill/result/7", Some(Hot::Result)),
            (Method::GET, "/api/activities/7", Some(Hot::Activity)),
            (Method::POST, "/api/seckill/7/token", None),
            (Method::POST, "/api/seckill/", None),
            (Method::GET, "/api/seckill/events/7", None),
            (Method::GET, "/api/activities", None),
            (Method::HEAD, "/api/activities/7", None),
            (Method::POST, "/seckill", None),
        ] {
            assert_eq!(Hot::of(&method, path), expect, "{method} {path}");
        }
    }
}
