//! The plain pages: what is here, and the API's description. Self-contained, without a script or style from elsewhere.

use axum::response::{IntoResponse, Response};
use http::HeaderName;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};

const INDEX: &str = include_str!("pages/index.html");
const DOCS: &str = include_str!("pages/docs.html");
/// What any API's description is drawn with: fetches `/openapi.json` and fills `#routes`.
pub const DOCS_SCRIPT: &str = include_str!("pages/docs.js");
/// How a description looks.
pub const DOCS_STYLE: &str = include_str!("pages/docs.css");

/// What is here.
pub(crate) async fn index() -> Response {
    page("text/html; charset=utf-8", INDEX)
}

/// The API's description.
pub(crate) async fn docs() -> Response {
    page("text/html; charset=utf-8", DOCS)
}

/// What the description is drawn with.
pub(crate) async fn script() -> Response {
    page("text/javascript; charset=utf-8", DOCS_SCRIPT)
}

/// How both look.
pub(crate) async fn style() -> Response {
    page("text/css; charset=utf-8", DOCS_STYLE)
}

fn page(content_type: &'static str, text: &'static str) -> Response {
    let headers: [(HeaderName, &'static str); 3] = [
        (CONTENT_TYPE, content_type),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            CONTENT_SECURITY_POLICY,
            "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        ),
    ];
    (headers, text).into_response()
}
