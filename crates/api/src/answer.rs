//! How answers are worded: `{code, message, data, request_id}`, and for errors `application/problem+json` with the same members besides
//! its own. Handlers say what; the language, the request id and the server's time are added once, when the answer leaves.
//!
//! What comes before `data` in an error depends on code and language alone and is rendered once for each.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::LazyLock;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use seckill_gate::retry_after_s;
use seckill_sale::{Code, EpochMs, Language, RequestId};
use serde::Serialize;

use crate::body::Body;
use crate::error::Error;
use crate::request_id;

pub(crate) const SERVER_TIME: HeaderName = HeaderName::from_static("server-time");
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
/// Wait of overload answers that name none.
const RETRY_AFTER_MS: u64 = 1_000;

/// Headers of an answer, so that their map is made in one piece.
const HEADERS_USUAL: usize = 6;

/// A message in both languages.
pub(crate) type Message = [&'static str; 2];
const FINE: Message = ["成功", "OK"];

/// An answer before it is rendered.
#[derive(Debug, Clone)]
pub struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    content: Content,
    retry_after_ms: Option<u64>,
}

#[derive(Debug, Clone)]
enum Content {
    /// The envelope of a good answer.
    Fine { code: u32, message: Message, data: Vec<u8> },
    /// A problem.
    Problem {
        code: Code,
        detail: Option<Cow<'static, str>>,
        data: Vec<u8>,
    },
    /// A body that is worded already; none for 304 and 204.
    Ready(Bytes),
}

impl Answer {
    /// 200 with code 0.
    #[must_use]
    pub fn fine(data: &impl Serialize) -> Self {
        Self::said(0, FINE, data)
    }

    /// 200 with a code and message of its own.
    pub(crate) fn said(code: u32, message: Message, data: &impl Serialize) -> Self {
        Self::with(
            StatusCode::OK,
            Content::Fine {
                code,
                message,
                data: json(data),
            },
        )
    }

    /// 200 with code 0 and data that are JSON already.
    pub(crate) fn fine_json(data: Vec<u8>) -> Self {
        Self::with(
            StatusCode::OK,
            Content::Fine {
                code: 0,
                message: FINE,
                data,
            },
        )
    }

    /// An error with the status of its code.
    #[must_use]
    pub fn error(code: Code) -> Self {
        let status = StatusCode::from_u16(code.http_status()).expect("every code has a status of HTTP");
        let overload = status == StatusCode::SERVICE_UNAVAILABLE || status == StatusCode::TOO_MANY_REQUESTS;
        let content = Content::Problem {
            code,
            detail: None,
            data: Vec::new(),
        };
        Self {
            retry_after_ms: overload.then_some(RETRY_AFTER_MS),
            ..Self::with(status, content)
        }
    }

    /// An answer whose body is worded already.
    #[must_use]
    pub fn ready(status: StatusCode, body: Bytes) -> Self {
        Self::with(status, Content::Ready(body))
    }

    fn with(status: StatusCode, content: Content) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
            content,
            retry_after_ms: None,
        }
    }

    /// The same answer with another status.
    #[must_use]
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The same answer with one more header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Milliseconds after which asking again makes sense.
    #[must_use]
    pub fn retry_after_ms(mut self, wait_ms: u64) -> Self {
        self.retry_after_ms = Some(wait_ms);
        self
    }

    /// What is wrong here, for a programmer. Good answers have no such member.
    #[must_use]
    pub fn detail(mut self, why: Cow<'static, str>) -> Self {
        if let Content::Problem { detail, .. } = &mut self.content {
            *detail = Some(why);
        }
        self
    }

    /// The same answer with these data.
    #[must_use]
    pub fn data(mut self, value: &impl Serialize) -> Self {
        if let Content::Fine { data, .. } | Content::Problem { data, .. } = &mut self.content {
            *data = json(value);
        }
        self
    }

    /// The response at `now`. `others` are headers that axum set for the same answer, such as `Allow`.
    pub fn render(self, id: &RequestId, language: Language, now: EpochMs, others: HeaderMap) -> http::Response<Body> {
        let (content_type, body) = match self.content {
            Content::Fine { code, message, data } => (Some(JSON), envelope(code, message, language, &data, id)),
            Content::Problem { code, detail, data } => (
                Some(PROBLEM),
                problem(code, self.status, detail.as_deref(), language, &data, id),
            ),
            Content::Ready(body) => (None, body),
        };
        let mut response = http::Response::new(Body::whole(body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        *headers = self.headers;
        headers.reserve(HEADERS_USUAL);
        if !others.is_empty() {
            headers.extend(others);
            // axum counted the empty body that stood for this one.
            headers.remove(CONTENT_LENGTH);
        }
        if let Some(content_type) = content_type {
            headers.insert(CONTENT_TYPE, content_type);
            headers.entry(CACHE_CONTROL).or_insert(NO_STORE);
        }
        if let Some(wait_ms) = self.retry_after_ms {
            headers.insert(RETRY_AFTER, HeaderValue::from(retry_after_s(wait_ms, rand::random())));
        }
        stamp(headers, id, now);
        response
    }
}

/// What stands on every answer, whoever made it.
pub(crate) fn stamp(headers: &mut HeaderMap, id: &RequestId, now: EpochMs) {
    headers.insert(SERVER_TIME, server_time(now));
    headers.insert(request_id::HEADER, request_id::value(id));
}

thread_local! {
    /// The time as it was last written by this thread: a core answers dozens of requests within a millisecond.
    static LAST_TIME: RefCell<(EpochMs, HeaderValue)> = const { RefCell::new((EpochMs(0), HeaderValue::from_static("0"))) };
}

fn server_time(now: EpochMs) -> HeaderValue {
    LAST_TIME.with_borrow_mut(|last| {
        if last.0 != now {
            *last = (now, HeaderValue::from(now.0));
        }
        last.1.clone()
    })
}

/// The answers that the listener gives before there is a request to speak of.
pub(crate) fn of_listener(status: StatusCode, now: EpochMs) -> http::Response<Bytes> {
    let code = match status {
        StatusCode::REQUEST_TIMEOUT => Code::RequestTimeout,
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => Code::HeadersTooLarge,
        _ => Code::Malformed,
    };
    let id = request_id::fresh();
    let body = problem(code, status, None, Language::Chinese, &[], &id);
    let mut response = http::Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, PROBLEM);
    response.headers_mut().insert(CACHE_CONTROL, NO_STORE);
    stamp(response.headers_mut(), &id, now);
    response
}

pub(crate) const fn in_language(message: Message, language: Language) -> &'static str {
    match language {
        Language::Chinese => message[0],
        Language::English => message[1],
    }
}

/// The bytes of a good answer, for whoever sends them by another way than a response.
pub(crate) fn said_bytes(
    code: u32,
    message: Message,
    language: Language,
    data: &impl Serialize,
    id: &RequestId,
) -> Bytes {
    envelope(code, message, language, &json(data), id)
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("what the API shows has text keys and cannot fail to serialize")
}

fn or_null(data: &[u8]) -> &[u8] {
    if data.is_empty() { b"null" } else { data }
}

fn envelope(code: u32, message: Message, language: Language, data: &[u8], id: &RequestId) -> Bytes {
    let mut head = Vec::with_capacity(96);
    head.extend_from_slice(b"{\"code\":");
    push_digits(&mut head, code.into());
    head.extend_from_slice(b",\"message\":\"");
    head.extend_from_slice(in_language(message, language).as_bytes());
    head.extend_from_slice(b"\",\"data\":");
    finish(&head, data, id)
}

/// A whole body from its head. Its room is measured: a buffer with room to spare would cost one more allocation to share.
fn finish(head: &[u8], data: &[u8], id: &RequestId) -> Bytes {
    let parts = [
        head,
        or_null(data),
        b",\"request_id\":\"",
        id.as_str().as_bytes(),
        b"\"}",
    ];
    let mut body = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    parts.iter().for_each(|part| body.extend_from_slice(part));
    body.into()
}

/// Decimal digits of `number`.
pub(crate) fn push_digits(body: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    body.extend_from_slice(&digits[at..]);
}

/// Everything before the value of `data`, for every code in both languages, where the detail is the message itself.
static HEADS: LazyLock<Vec<[Vec<u8>; 2]>> = LazyLock::new(|| {
    let head = |code: &Code, language| problem_head(*code, code.http_status(), code.message(language), language);
    let both = |code| [head(code, Language::Chinese), head(code, Language::English)];
    Code::ALL.iter().map(both).collect()
});

fn problem_head(code: Code, status: u16, detail: &str, language: Language) -> Vec<u8> {
    #[derive(Serialize)]
    struct Head<'a> {
        code: u32,
        message: &'a str,
        r#type: String,
        title: &'a str,
        status: u16,
        detail: &'a str,
    }
    let mut head = json(&Head {
        code: code.number(),
        message: code.message(language),
        r#type: format!("/api/codes#{}", code.number()),
        title: code.message(language),
        status,
        detail,
    });
    head.pop();
    head.extend_from_slice(b",\"data\":");
    head
}

fn problem(
    code: Code,
    status: StatusCode,
    detail: Option<&str>,
    language: Language,
    data: &[u8],
    id: &RequestId,
) -> Bytes {
    if detail.is_none() && status.as_u16() == code.http_status() {
        return finish(&HEADS[code as usize][language as usize], data, id);
    }
    let detail = detail.unwrap_or(code.message(language));
    finish(&problem_head(code, status.as_u16(), detail, language), data, id)
}

/// An answer on its way through axum: it travels beside an empty body and is rendered outside.
#[derive(Debug, Clone)]
pub(crate) enum Pending {
    Answer(Answer),
    Error(Error),
}

impl Pending {
    pub(crate) fn answer(self, now: EpochMs) -> Answer {
        match self {
            Self::Answer(answer) => answer,
            Self::Error(error) => error.answer(now),
        }
    }
}

impl IntoResponse for Pending {
    fn into_response(self) -> Response {
        let mut response = Response::default();
        response.extensions_mut().insert(self);
        response
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        Pending::Answer(self).into_response()
    }
}
