//! The bytes of answers: the envelope of a good one and the problem of an error.
//!
//! What comes before `data` in an error depends on code and language alone and is rendered once for each.

use std::sync::LazyLock;

use bytes::Bytes;
use http::StatusCode;
use seckill_sale::{Code, Language, RequestId};
use serde::Serialize;

/// A message in both languages.
pub(crate) type Message = [&'static str; 2];

const fn in_language(message: Message, language: Language) -> &'static str {
    match language {
        Language::Chinese => message[0],
        Language::English => message[1],
    }
}

pub(crate) fn json(value: &impl Serialize) -> Vec<u8> {
    /// Room for what a buyer is shown, so that it is written in one piece.
    const USUAL_BYTES: usize = 256;
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    serde_json::to_writer(&mut bytes, value).expect("what the API shows has text keys and cannot fail to serialize");
    bytes
}

fn or_null(data: &[u8]) -> &[u8] {
    if data.is_empty() { b"null" } else { data }
}

/// The envelope of a good answer with the JSON of `data`, which may come in pieces.
pub(crate) fn envelope(code: u32, message: Message, language: Language, data: &[&[u8]], id: &RequestId) -> Bytes {
    let mut digits = Digits::new();
    let before = [
        b"{\"code\":",
        digits.of(code.into()),
        b",\"message\":\"",
        in_language(message, language).as_bytes(),
        b"\",\"data\":",
    ];
    let after = [b",\"request_id\":\"", id.as_str().as_bytes(), b"\"}"];
    let length = |parts: &[&[u8]]| parts.iter().map(|part| part.len()).sum::<usize>();
    let data = if length(data) == 0 { &[&b"null"[..]][..] } else { data };
    let mut body = Vec::with_capacity(length(&before) + length(data) + length(&after));
    for part in before.iter().chain(data).chain(&after) {
        body.extend_from_slice(part);
    }
    body.into()
}

/// Bytes in one piece. Its room is measured: a buffer with room to spare would cost one more allocation to share.
pub(crate) fn joined(parts: &[&[u8]]) -> Vec<u8> {
    let mut body = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    parts.iter().for_each(|part| body.extend_from_slice(part));
    body
}

/// A whole body from its head.
fn finish(head: &[u8], data: &[u8], id: &RequestId) -> Bytes {
    joined(&[
        head,
        or_null(data),
        b",\"request_id\":\"",
        id.as_str().as_bytes(),
        b"\"}",
    ])
    .into()
}

/// Room for the decimal digits of a number.
pub(crate) struct Digits([u8; 20]);

impl Digits {
    pub(crate) const fn new() -> Self {
        Self([0; 20])
    }

    pub(crate) fn of(&mut self, mut number: u64) -> &[u8] {
        let mut at = self.0.len();
        loop {
            at -= 1;
            self.0[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return &self.0[at..];
            }
        }
    }
}

/// Everything before the value of `data`, for every code in both languages, where the detail is the message itself.
static HEADS: LazyLock<Vec<[Vec<u8>; 2]>> = LazyLock::new(|| {
    let head = |code: &Code, language| {
        let message = code.message(language);
        problem_head(*code, code.http_status(), message, message)
    };
    let both = |code| [head(code, Language::Chinese), head(code, Language::English)];
    Code::ALL.iter().map(both).collect()
});

fn problem_head(code: Code, status: u16, message: &str, detail: &str) -> Vec<u8> {
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
        message,
        r#type: format!("/api/codes#{}", code.number()),
        title: message,
        status,
        detail,
    });
    head.pop();
    head.extend_from_slice(b",\"data\":");
    head
}

/// What an error says.
pub(crate) struct Said<'a> {
    pub(crate) code: Code,
    pub(crate) status: StatusCode,
    /// The sentence; none: that of the code.
    pub(crate) message: Option<&'a Message>,
    /// What is wrong here; none: nothing beyond the sentence.
    pub(crate) detail: Option<&'a str>,
}

pub(crate) fn problem(said: &Said<'_>, language: Language, data: &[u8], id: &RequestId) -> Bytes {
    let Said { code, status, .. } = *said;
    if said.message.is_none() && said.detail.is_none() && status.as_u16() == code.http_status() {
        return finish(&HEADS[code as usize][language as usize], data, id);
    }
    let own = said.message.map(|message| in_language(*message, language));
    let message = own.unwrap_or(code.message(language));
    let detail = said.detail.unwrap_or(message);
    finish(&problem_head(code, status.as_u16(), message, detail), data, id)
}
