//! How answers are worded: `{code, message, data, request_id}`, and for errors `application/problem+json` with the same members besides
//! its own. Handlers say what; the language, the request id and the server's time are added once, when the answer leaves.
//! The bytes themselves are made in `wording.rs`.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, StatusCode};
use seckill_gate::retry_after_s;
use seckill_sale::{ActivityId, Code, EpochMs, Language, RequestId};
use serde::Serialize;

use crate::body::Body;
use crate::cached_page::Page;
use crate::dress::{Extra, Kind, dress, dress_again};
use crate::repeated::result_path;
use crate::wording::{Digits, Message, Said, envelope, json, problem};

/// Wait of overload answers that name none.
const RETRY_AFTER_MS: u64 = 1_000;

const FINE: Message = ["成功", "OK"];

/// An answer before it is rendered.
#[derive(Debug, Clone)]
pub struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    result_of: Option<ActivityId>,
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
        message: Option<&'static Message>,
        detail: Option<Cow<'static, str>>,
        data: Vec<u8>,
    },
    /// The envelope of a page at this moment.
    Page(Page, EpochMs),
    /// A body that is worded already; none for 304 and 204.
    Ready(Bytes),
}

impl Answer {
    /// 200 with code 0.
    #[must_use]
    pub fn fine(data: &impl Serialize) -> Self {
        Self::fine_json(json(data))
    }

    /// 200 with code 0 and data that are JSON already.
    pub(crate) fn fine_json(data: Vec<u8>) -> Self {
        Self::said_json(0, FINE, data)
    }

    /// 200 with a code and message of its own, and data that are JSON already.
    pub(crate) fn said_json(code: u32, message: Message, data: Vec<u8>) -> Self {
        Self::with(StatusCode::OK, Content::Fine { code, message, data })
    }

    /// An error with the status of its code.
    #[must_use]
    pub fn error(code: Code) -> Self {
        let status = StatusCode::from_u16(code.http_status()).expect("every code has a status of HTTP");
        let overload = status == StatusCode::SERVICE_UNAVAILABLE || status == StatusCode::TOO_MANY_REQUESTS;
        let content = Content::Problem {
            code,
            message: None,
            detail: None,
            data: Vec::new(),
        };
        Self {
            retry_after_ms: overload.then_some(RETRY_AFTER_MS),
            ..Self::with(status, content)
        }
    }

    /// 200 with a page as it is shown at `now`.
    pub(crate) fn page(page: Page, now: EpochMs) -> Self {
        Self::with(StatusCode::OK, Content::Page(page, now))
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
            result_of: None,
            content,
            retry_after_ms: None,
        }
    }

    /// Its code; 0 where it is worded already.
    pub(crate) const fn code(&self) -> u32 {
        match &self.content {
            Content::Fine { code, .. } => *code,
            Content::Problem { code, .. } => code.number(),
            Content::Page(..) | Content::Ready(_) => 0,
        }
    }

    /// The same answer with another status.
    #[must_use]
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The answer to a CONNECT, whatever it names: nobody is tunnelled through us. axum puts no `Allow` beside this one, so it stands here.
    #[must_use]
    pub fn to_connect() -> Self {
        let allowed = HeaderValue::from_static("GET, HEAD, POST");
        Self::error(Code::MethodNotAllowed).header(http::header::ALLOW, allowed)
    }

    /// The same answer with one more header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Whose result the answer's `Location` leads to.
    #[must_use]
    pub(crate) fn result_of(mut self, activity: ActivityId) -> Self {
        self.result_of = Some(activity);
        self
    }

    /// Milliseconds after which asking again makes sense.
    #[must_use]
    pub fn retry_after_ms(mut self, wait_ms: u64) -> Self {
        self.retry_after_ms = Some(wait_ms);
        self
    }

    /// The sentence for people, in Chinese and English, where that of the code would not be the truth. Good answers have one of their own.
    #[must_use]
    pub fn message(mut self, said: &'static [&'static str; 2]) -> Self {
        if let Content::Problem { message, .. } = &mut self.content {
            *message = Some(said);
        }
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
        let retry_after = self
            .retry_after_ms
            .map(|wait_ms| HeaderValue::from(retry_after_s(wait_ms, rand::random())));
        let extra = Extra {
            location: self.result_of.map(result_path),
            retry_after,
        };
        let own = self.headers;
        let (headers, body) = match self.content {
            Content::Fine { code, message, data } => (
                dress(own, others, Kind::Json, extra, id, now),
                envelope(code, message, language, &[&data], id),
            ),
            Content::Page(page, shown_at) => (
                dress_again(&page.headers, own, others, id, now),
                envelope(
                    0,
                    FINE,
                    language,
                    &page.data(Digits::new().of(shown_at.0.unsigned_abs())),
                    id,
                ),
            ),
            Content::Problem {
                code,
                message,
                detail,
                data,
            } => {
                let said = Said {
                    code,
                    status: self.status,
                    message,
                    detail: detail.as_deref(),
                };
                (
                    dress(own, others, Kind::Problem, extra, id, now),
                    problem(&said, language, &data, id),
                )
            }
            Content::Ready(body) => (dress(own, others, Kind::Other, extra, id, now), body),
        };
        let mut response = http::Response::new(Body::whole(body));
        *response.status_mut() = self.status;
        *response.headers_mut() = headers;
        response
    }
}
