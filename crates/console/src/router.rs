//! The list of routes.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, patch, post};

use crate::error::Error;
use crate::state::Console;
use crate::{
    actions, activities, audit, auth, blocks, check, dead_letters, eligibility, health, live, orders, outer, page,
    products, recover, schedules, switches,
};

/// What stands for everything that is no route.
pub(crate) const UNKNOWN_ROUTE: &str = "other";

/// Names of the routes as metrics show them.
pub const ROUTES: &[&str] = &[
    "/",
    "/admin/api/activities",
    "/admin/api/activities/{id}",
    "/admin/api/activities/{id}/add-stock",
    "/admin/api/activities/{id}/audit",
    "/admin/api/activities/{id}/check",
    "/admin/api/activities/{id}/close",
    "/admin/api/activities/{id}/eligibility",
    "/admin/api/activities/{id}/movements",
    "/admin/api/activities/{id}/pause",
    "/admin/api/activities/{id}/preheat",
    "/admin/api/activities/{id}/reconcile",
    "/admin/api/activities/{id}/recover",
    "/admin/api/activities/{id}/resume",
    "/admin/api/audit-rows",
    "/admin/api/blocks",
    "/admin/api/blocks/{id}",
    "/admin/api/check",
    "/admin/api/dead-letters",
    "/admin/api/dead-letters/{id}/discard",
    "/admin/api/dead-letters/{id}/retry",
    "/admin/api/live",
    "/admin/api/orders",
    "/admin/api/products",
    "/admin/api/products/{id}",
    "/admin/api/products/{id}/add-stock",
    "/admin/api/recover",
    "/admin/api/schedules",
    "/admin/api/schedules/{id}",
    "/admin/api/switches",
    "/docs",
    "/docs.css",
    "/docs.js",
    "/metrics",
    "/openapi.json",
    "/readyz",
    "/style.css",
];

/// Everything that answers on the admin port. To be cloned for each [`crate::Connection`].
pub fn router(console: Arc<Console>) -> Router {
    let guarded = Router::new()
        .route("/admin/api/products", get(products::list).post(products::create))
        .route("/admin/api/products/{id}", get(products::show))
        .route("/admin/api/products/{id}/add-stock", post(products::add_stock))
        .route("/admin/api/activities", get(activities::list).post(activities::create))
        .route(
            "/admin/api/activities/{id}",
            get(activities::show).patch(activities::patch),
        )
        .route("/admin/api/activities/{id}/preheat", post(actions::preheat))
        .route("/admin/api/activities/{id}/pause", post(actions::pause))
        .route("/admin/api/activities/{id}/resume", post(actions::resume))
        .route("/admin/api/activities/{id}/close", post(actions::close))
        .route("/admin/api/activities/{id}/add-stock", post(actions::add_stock))
        .route(
            "/admin/api/activities/{id}/eligibility",
            get(eligibility::show).put(eligibility::set).delete(eligibility::remove),
        )
        .route("/admin/api/check", get(check::node))
        .route("/admin/api/activities/{id}/check", get(check::activity))
        .route("/admin/api/activities/{id}/audit", get(audit::audit))
        .route("/admin/api/activities/{id}/reconcile", post(audit::reconcile))
        .route("/admin/api/activities/{id}/movements", get(audit::movements))
        .route("/admin/api/activities/{id}/recover", post(recover::one))
        .route("/admin/api/recover", post(recover::all))
        .route("/admin/api/live", get(live::live))
        .route("/admin/api/orders", get(orders::list))
        .route("/admin/api/dead-letters", get(dead_letters::list))
        .route("/admin/api/dead-letters/{id}/retry", post(dead_letters::retry))
        .route("/admin/api/dead-letters/{id}/discard", post(dead_letters::discard))
        .route("/admin/api/switches", get(switches::show).patch(switches::patch))
        .route(
            "/admin/api/blocks",
            get(blocks::list).post(blocks::add).delete(blocks::remove_named),
        )
        .route("/admin/api/blocks/{id}", delete(blocks::remove))
        .route("/admin/api/schedules", get(schedules::list).post(schedules::create))
        .route("/admin/api/schedules/{id}", patch(schedules::patch))
        .route("/admin/api/audit-rows", get(audit::rows))
        .route_layer(from_fn_with_state(console.clone(), auth::guard));
    let open = Router::new()
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .route("/", get(page::index))
        .route("/style.css", get(page::style))
        .route("/openapi.json", get(page::openapi))
        .route("/docs", get(page::docs))
        .route("/docs.js", get(page::docs_script))
        .route("/docs.css", get(page::docs_style));
    guarded
        .merge(open)
        .fallback(async || Error::UnknownPath)
        .method_not_allowed_fallback(async || Error::MethodNotAllowed)
        .layer(from_fn_with_state(console.clone(), outer::answer))
        .with_state(console)
}
