//! `GET /api/time`: the clock that decides, for a page that counts down.

use http::request::Parts;
use serde::Serialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::error::Error;
use crate::timestamp::rfc3339;

#[derive(Serialize)]
struct TimeView {
    /// Epoch milliseconds.
    server_time: i64,
    /// The same for people.
    server_time_text: String,
}

/// The store's time.
pub(crate) async fn time(call: Call, head: Parts) -> Result<Answer, Error> {
    call.visitor(&head.headers)?;
    let now = call.shared().stock.now();
    Ok(Answer::fine(&TimeView {
        server_time: now.0,
        server_time_text: rfc3339(now),
    }))
}
