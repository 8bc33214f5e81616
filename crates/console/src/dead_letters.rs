//! Tickets that could not be written: shown, put back into the queue, or failed for good with a reason.

use http::Uri;
use seckill_api::Answer;
use serde::Deserialize;

use crate::call::{Call, RowInPath};
use crate::error::Error;
use crate::input;
use crate::list::{self, PageQuery};
use crate::outer::Reply;
use crate::views::DeadLetterView;
use crate::write::{Nothing, Write};

/// Dead letters, newest first.
pub(crate) async fn list(call: Call, uri: Uri) -> Result<Reply, Error> {
    let request = PageQuery::of(&uri)?;
    let page = list::rows(call.console.ledger().dead_letters(request).await)?;
    Ok(Reply(list::answer("dead_letters", &page, |row| {
        DeadLetterView::from(row)
    })))
}

/// Puts one back into the queue.
pub(crate) async fn retry(RowInPath(id): RowInPath, write: Write<Nothing>) -> Result<Reply, Error> {
    let Write { call, context, .. } = write;
    let letter = call.console.operator.retry_dead_letter(id, context).await?;
    Ok(Reply(Answer::fine(&DeadLetterView::from(&letter))))
}

/// Why a ticket fails for good.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Discard {
    reason: String,
}

/// Fails one for good; its units go back once.
pub(crate) async fn discard(
    RowInPath(id): RowInPath,
    Write { call, body, context }: Write<Discard>,
) -> Result<Reply, Error> {
    let reason = input::sentence("reason", body.reason)?;
    let letter = call.console.operator.discard_dead_letter(id, reason, context).await?;
    Ok(Reply(Answer::fine(&DeadLetterView::from(&letter))))
}
