//! `POST /api/seckill/{activity_id}`: the order of the checks, and what each comes to. Everything that decides stands elsewhere.

use http::header::HeaderName;
use http::request::Parts;
use http::{HeaderValue, Request, StatusCode};
use seckill_flow::{Queued, Wish};
use seckill_gate::{ForTheStore, Identified, Moment};
use seckill_sale::{ActivityId, QUEUED, Refusal, RequestKey, UserId};

use crate::answer::Answer;
use crate::answering::Work;
use crate::buy_step::{Step, at_once, carry_out, earlier, replayable};
use crate::call::Call;
use crate::count;
use crate::error::Error;
use crate::extract::Incoming;
use crate::in_flight::UnderWay;
use crate::path;
use crate::purchase_form::{self, Asked};
use crate::queued_view::{self, Place};

/// On the answer to a request that was carried out before.
pub const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// What a purchase comes to.
pub(crate) type Outcome = Result<(ActivityId, Queued), Error>;

/// Buys where there is no body. Whoever memory alone can answer, such as all who come after the sell-out, is answered without a future.
pub(crate) fn begin<B>(call: &Call, has_key: bool, request: &Request<B>) -> Work {
    let mut asked_for = None;
    let step = match without_body(call, has_key, request, &mut asked_for) {
        Ok(Step::Told(outcome)) => return Work::Done(Some(finish(call, asked_for, outcome))),
        Ok(step) => step,
        Err(error) => return Work::Done(Some(finish(call, asked_for, Err(error)))),
    };
    let under_way = UnderWay::begin(call.clone(), asked_for);
    Work::Hot(Box::pin(async move {
        let call = &under_way.0;
        let outcome = carry_out(call, step).await;
        finish(call, asked_for, outcome)
    }))
}

/// `asked_for` is told the activity once it is known.
fn without_body<B>(
    call: &Call,
    has_key: bool,
    request: &Request<B>,
    asked_for: &mut Option<ActivityId>,
) -> Result<Step, Error> {
    let gate = &call.shared().gate;
    let arrived = gate.arrive(call.at_gate(request.headers()), call.moment)?;
    let activity = path::activity_id(path::last_segment(request.uri().path()));
    call.check_in_flight(*activity.as_ref().unwrap_or(&None))?;
    let identified = gate.identify(arrived, call.moment)?;
    let asked = purchase_form::without_body(has_key, request.headers(), activity)?;
    *asked_for = asked.activity;
    admit(call, identified, &asked, call.moment)
}

/// Buys. No async fn, which would keep each argument twice, and this future is made for every click.
pub(crate) fn buy(
    call: Call,
    head: Parts,
    mut body: impl Incoming,
) -> impl Future<Output = Result<Answer, Error>> + Send {
    let under_way = UnderWay::begin(call, path::sale(head.uri.path()));
    async move {
        let call = &under_way.0;
        // Lent, since each async fn on the way would keep the body twice.
        let mut asked_for = None;
        let outcome = purchase(&under_way, &head, &mut body, &mut asked_for).await;
        finish(call, asked_for, outcome)
    }
}

async fn purchase(
    under_way: &UnderWay,
    head: &Parts,
    body: impl Incoming,
    asked_for: &mut Option<ActivityId>,
) -> Outcome {
    let call = &under_way.0;
    let gate = &call.shared().gate;
    let arrived = gate.arrive(call.at_gate(&head.headers), call.moment)?;
    under_way.check()?;
    let identified = gate.identify(arrived, call.moment)?;
    // A body may take its time: then the window is looked at by the time that it is afterwards.
    let at_once = body.is_end_stream();
    let asked = purchase_form::read(call, head, body).await?;
    *asked_for = asked.activity;
    let moment = if at_once { call.moment } else { call.shared().moment() };
    admitted(call, identified, asked, moment).await
}

/// The purchase of somebody who is known, from the gate's last stage on.
pub(crate) async fn admitted(call: &Call, identified: Identified<'_>, asked: Asked, moment: Moment) -> Outcome {
    let step = admit(call, identified, &asked, moment)?;
    carry_out(call, step).await
}

/// The gate's last stage, and what memory says behind it.
fn admit(call: &Call, identified: Identified<'_>, asked: &Asked, moment: Moment) -> Result<Step, Error> {
    let activity = asked.activity.ok_or(Refusal::UnknownActivity)?;
    let user = identified.user().clone();
    let wish = seckill_gate::Wish {
        activity,
        quantity: asked.quantity,
        token: asked.token.as_deref(),
    };
    let earlier = |user: &UserId, activity| earlier(call, user, activity);
    let gate = &call.shared().gate;
    let admitted = match gate.admit_purchase(identified, wish, earlier, moment) {
        Ok(admitted) => admitted,
        Err(refusal) => return replayable(call, user, asked, activity, refusal, moment),
    };
    let mut wish = Wish {
        activity,
        user,
        quantity: admitted.quantity(),
        key: asked.key.unwrap_or_else(|| RequestKey(call.core.unique.next_wide())),
        request_id: call.request_id.clone(),
        challenge_met: admitted.challenge_passed(),
        rates: Vec::new(),
    };
    if let Some(outcome) = at_once(call, &wish) {
        return Ok(Step::Told(outcome));
    }
    let ForTheStore { rates, suspect } = gate.for_the_store(&admitted);
    wish.rates = rates;
    Ok(Step::Purchase(wish, suspect))
}

/// Counts what a purchase came to, and words it. `asked_for` is none where it did not get so far as to say it.
pub(crate) fn finish(call: &Call, asked_for: Option<ActivityId>, outcome: Outcome) -> Result<Answer, Error> {
    count::purchase(call, asked_for, &outcome);
    outcome.map(|(activity, queued)| answer(call, activity, queued))
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
    let answer = Answer::said_json(0, QUEUED, view.json())
        .status(StatusCode::ACCEPTED)
        .result_of(activity);
    if queued.replayed {
        answer.header(IDEMPOTENCY_REPLAYED, HeaderValue::from_static("true"))
    } else {
        answer
    }
}
