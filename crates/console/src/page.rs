//! The plain page at `/`: what is there and how to call it. No script, no style from elsewhere, nothing of the operator's data.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use seckill_api::Answer;

use crate::outer::Reply;

const INDEX: &str = include_str!("pages/index.html");
const STYLE: &str = include_str!("pages/style.css");

/// What is here.
pub(crate) async fn index() -> Reply {
    page("text/html; charset=utf-8", INDEX)
}

/// How it looks.
pub(crate) async fn style() -> Reply {
    page("text/css; charset=utf-8", STYLE)
}

fn page(media_type: &'static str, text: &'static str) -> Reply {
    let answer = Answer::ready(StatusCode::OK, Bytes::from_static(text.as_bytes()));
    Reply(answer.header(CONTENT_TYPE, HeaderValue::from_static(media_type)))
}
