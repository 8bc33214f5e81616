//! `POST /api/seckill/{activity_id}`: the order of the checks, and what each comes to. Everything that decides stands elsewhere.

use bytes::Bytes;
use http::header::{HeaderName, LOCATION};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use seckill_flow::{Queued, Wish};
use seckill_gate::{Earlier, Identified, Moment};
use seckill_metrics::ShedReason;
use seckill_sale::{ActivityId, QUEUED, Refusal, RequestKey, UserId};
use seckill_stock::Glance;

use crate::answer::Answer;
use crate::call::Call;
use crate::count;
use crate::error::Error;
use crate::extract::Incoming;
use crate::purchase_form::{self, Asked};
use crate::queued_view::{self, Place};
use crate::wording::{Digits, joined};

/// On the answer to a request that was carried out before.
pub const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// What a purchase comes to.
pub(crate) type Outcome = Result<(ActivityId, Queued), Error>;

/// Buys.
#[expect(
    clippy::manual_async_fn,
    reason = "an async fn keeps each argument twice, and this future is made for every click"
)]
pub(crate) fn buy(
    call: Call,
    head: Parts,
    mut body: impl Incoming,
) -> impl Future<Output = Result<Answer, Error>> + Send {
    async move {
        // Lent, since each async fn on the way would keep the body twice.
        let outcome = purchase(&call, &head, &mut body).await;
        finish(&call, outcome)
    }
}

async fn purchase(call: &Call, head: &Parts, body: impl Incoming) -> Outcome {
    let gate = &call.shared().gate;
    let arrived = gate.arrive(call.at_gate(&head.headers), call.moment)?;
    let identified = gate.identify(arrived, call.moment)?;
    // A body may take its time: then the window is looked at by the time that it is afterwards.
    let at_once = body.is_end_stream();
    let asked = purchase_form::read(call, head, body).await?;
    let moment = if at_once { call.moment } else { call.shared().moment() };
    admitted(call, identified, asked, moment).await
}

/// The purchase of somebody who is known, from the gate's last stage on.
pub(crate) async fn admitted(call: &Call, identified: Identified<'_>, asked: Asked, moment: Moment) -> Outcome {
    let activity = asked.activity.ok_or(Refusal::UnknownActivity)?;
    let user = identified.user().clone();
    let wish = seckill_gate::Wish {
        activity,
        quantity: asked.quantity,
        token: asked.token.as_deref(),
    };
    let earlier = |user: &UserId, activity| earlier(call, user, activity);
    let admitted = match call.shared().gate.admit_purchase(identified, wish, earlier, moment) {
        Ok(admitted) => admitted,
        Err(refusal) => return replay(call, &user, &asked, activity, refusal).await,
    };
    let wish = Wish {
        activity,
        user,
        quantity: admitted.quantity(),
        key: asked.key.unwrap_or_else(|| RequestKey(call.core.unique.next_wide())),
        request_id: call.request_id.clone(),
        challenge_met: admitted.challenge_passed(),
    };
    let queued = call
        .core
        .purchase
        .purchase(wish)
        .await
        .map_err(|refusal| shed(call, refusal))?;
    Ok((activity, queued))
}

/// Counts what a purchase came to, and words it.
pub(crate) fn finish(call: &Call, outcome: Outcome) -> Result<Answer, Error> {
    count::purchase(call, &outcome);
    outcome.map(|(activity, queued)| answer(call, activity, queued))
}

/// What memory knows of this buyer.
fn earlier(call: &Call, user: &UserId, activity: ActivityId) -> Earlier {
    match call.shared().stock.glance(activity, user) {
        Glance::Holds(_) => Earlier::Ticket,
        Glance::SoldOut | Glance::Stranger => Earlier::None,
        Glance::Ask => Earlier::Unknown,
    }
}

/// A lost reply is cured by asking again with the same key, also when the sale is held or over by then.
async fn replay(call: &Call, user: &UserId, asked: &Asked, activity: ActivityId, refusal: Refusal) -> Outcome {
    let held = matches!(
        refusal,
        Refusal::Paused { .. } | Refusal::NotStarted { .. } | Refusal::Ended
    );
    if let Some(key) = asked.key.filter(|_| held)
        && earlier(call, user, activity) != Earlier::None
        && let Some(queued) = call.core.purchase.replay(activity, user, key, asked.quantity).await
    {
        return Ok((activity, queued));
    }
    if refusal == Refusal::Busy {
        call.shared().metrics.shed.inc(call.core.index, ShedReason::AdmitRatio);
    }
    Err(refusal.into())
}

/// Counts what the store could not take.
fn shed(call: &Call, refusal: Refusal) -> Refusal {
    if matches!(refusal, Refusal::Busy | Refusal::Late) {
        let reason = if call.shared().shutdown.is_cancelled() {
            ShedReason::Draining
        } else if refusal == Refusal::Late {
            ShedReason::WaitedTooLong
        } else {
            ShedReason::PendingFull
        };
        call.shared().metrics.shed.inc(call.core.index, reason);
    }
    refusal
}

fn answer(call: &Call, activity: ActivityId, queued: Queued) -> Answer {
    let shared = call.shared();
    let now = shared.stock.now();
    let place = Place {
        ahead: queued.ahead,
        settle_per_s: shared.pace.per_second(),
        delayed: false,
        now,
        age_ms: 0,
    };
    let view = queued_view::queued(queued.ticket, place, shared.settings.polls);
    let location = joined(&[b"/api/seckill/result/", Digits::new().of(activity.get())]);
    let answer = Answer::said_json(0, QUEUED, view.json())
        .status(StatusCode::ACCEPTED)
        .header(
            LOCATION,
            HeaderValue::from_maybe_shared(Bytes::from(location)).expect("a path of digits is a header"),
        );
    if queued.replayed {
        answer.header(IDEMPOTENCY_REPLAYED, HeaderValue::from_static("true"))
    } else {
        answer
    }
}
