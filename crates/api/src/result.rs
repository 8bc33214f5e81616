//! `GET /api/seckill/result/{activity_id}`: the asking buyer's own result, from memory while the store knows the sale.

use http::request::Parts;
use seckill_flow::PurchaseResult;
use seckill_sale::{ActivityId, UserId};
use seckill_stock::Glance;

use crate::answer::Answer;
use crate::call::Call;
use crate::error::Error;
use crate::path;
use crate::result_view::ResultView;

/// Answers a poll.
pub(crate) async fn result(call: Call, head: Parts) -> Result<Answer, Error> {
    let reader = call.reader(&head.headers)?;
    let activity = path::activity_id(path::last_segment(head.uri.path()))?;
    let activity = call.visible_activity(activity)?.id;
    let view = view(&call, activity, reader.user()).await?;
    Ok(Answer::said_json(view.code(), view.message(), view.json()))
}

/// The result of `user` as it is now.
///
/// # Errors
/// [`Error::NotFound`] where he has no ticket.
pub(crate) async fn view(call: &Call, activity: ActivityId, user: &UserId) -> Result<ResultView, Error> {
    let shared = call.shared();
    let result = shared.results.of(activity, user).await?.ok_or(Error::NotFound)?;
    Ok(shown(call, user, &result))
}

fn shown(call: &Call, user: &UserId, result: &PurchaseResult) -> ResultView {
    let shared = call.shared();
    let now = shared.stock.now();
    // A store that must be asked does not tell the age for nothing: such a ticket counts as no longer young.
    let age_ms = || match shared.stock.glance(result.ticket.activity, user) {
        Glance::Holds(buyer) => now.since(buyer.accepted_at),
        Glance::SoldOut | Glance::Stranger | Glance::Ask => i64::MAX,
    };
    ResultView::new(result, now, age_ms, shared.settings.polls)
}
