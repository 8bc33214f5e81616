//! `GET /api/codes`: every code with its sentence in both languages, so that a shop's own pages say the same.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use http::request::Parts;
use seckill_sale::{Code, Language, NOT_ELIGIBLE, QUEUED};
use serde::Serialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::error::{Error, NOT_ELIGIBLE_REASON};
use crate::result_view::{FAILED, SUCCEEDED};
use crate::wording::Message;

#[derive(Serialize)]
struct Codes {
    /// Codes that any answer may carry.
    codes: Vec<CodeView>,
    /// Codes of a purchase's result.
    results: Vec<CodeView>,
}

#[derive(Serialize)]
struct CodeView {
    code: u32,
    http_status: u16,
    zh: &'static str,
    en: &'static str,
    /// Sentences in the place of these, by the `data.reason` that they are said with.
    #[serde(skip_serializing_if = "Option::is_none")]
    reasons: Option<BTreeMap<&'static str, Sentence>>,
}

#[derive(Serialize)]
struct Sentence {
    zh: &'static str,
    en: &'static str,
}

static DATA: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let code = |code: &Code| CodeView {
        code: code.number(),
        http_status: code.http_status(),
        zh: code.message(Language::Chinese),
        en: code.message(Language::English),
        reasons: (*code == Code::Blocked).then(|| {
            let [zh, en] = NOT_ELIGIBLE;
            BTreeMap::from([(NOT_ELIGIBLE_REASON, Sentence { zh, en })])
        }),
    };
    let result = |(code, [zh, en]): (u32, Message)| CodeView {
        code,
        http_status: 200,
        zh,
        en,
        reasons: None,
    };
    let codes = Codes {
        codes: Code::ALL.iter().map(code).collect(),
        results: [(0, QUEUED), (1, SUCCEEDED), (2, FAILED)].map(result).into(),
    };
    serde_json::to_vec(&codes).expect("texts and numbers serialize")
});

/// All codes.
pub(crate) async fn codes(call: Call, head: Parts) -> Result<Answer, Error> {
    call.visitor(&head.headers)?;
    Ok(Answer::fine_json(DATA.clone()))
}
