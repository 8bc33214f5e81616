//! The plain pages: what is there and how to call it at `/`, the description for programs at `/openapi.json`, the same drawn at `/docs`.
//! No script, no style from elsewhere, nothing of the operator's data. Tests hold the description against routes, bodies and answers.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use seckill_api::{Answer, DOCS_SCRIPT, DOCS_STYLE};

use crate::outer::Reply;

const INDEX: &str = include_str!("pages/index.html");
const STYLE: &str = include_str!("pages/style.css");
const DOCS: &str = include_str!("pages/docs.html");
const OPENAPI: &str = include_str!("pages/openapi.json");

/// What is here.
pub(crate) async fn index() -> Reply {
    page("text/html; charset=utf-8", INDEX)
}

/// How it looks.
pub(crate) async fn style() -> Reply {
    page("text/css; charset=utf-8", STYLE)
}

/// The API for programs that write clients.
pub(crate) async fn openapi() -> Reply {
    page("application/json", OPENAPI)
}

/// The same for people.
pub(crate) async fn docs() -> Reply {
    page("text/html; charset=utf-8", DOCS)
}

/// What the description is drawn with.
pub(crate) async fn docs_script() -> Reply {
    page("text/javascript; charset=utf-8", DOCS_SCRIPT)
}

/// How the description looks.
pub(crate) async fn docs_style() -> Reply {
    page("text/css; charset=utf-8", DOCS_STYLE)
}

fn page(media_type: &'static str, text: &'static str) -> Reply {
    let answer = Answer::ready(StatusCode::OK, Bytes::from_static(text.as_bytes()));
    Reply(answer.header(CONTENT_TYPE, HeaderValue::from_static(media_type)))
}
