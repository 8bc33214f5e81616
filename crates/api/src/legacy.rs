//! `POST /seckill` with the user in the body: for shops whose gateway speaks this older form. Only in gateway mode, and only from a
//! trusted proxy, because whoever may call it may buy for anybody. Everything after the body is the buy route's.

use axum::extract::Request;
use seckill_gate::Authority;
use seckill_sale::{ActivityId, Refusal, UserId};
use serde::Deserialize;

use crate::answer::Answer;
use crate::buy;
use crate::call::Call;
use crate::error::Error;
use crate::extract;
use crate::in_flight::UnderWay;
use crate::purchase_form::{self, Asked};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LegacyBody {
    activity_id: u64,
    user_id: UserId,
}

/// Buys one unit for the named user.
pub(crate) async fn legacy(call: Call, request: Request) -> Result<Answer, Error> {
    let gate = &call.shared().gate;
    if !matches!(gate.authority(), Authority::Gateway) {
        return Err(Error::UnknownPath);
    }
    let (head, body) = request.into_parts();
    let mut under_way = UnderWay::begin(call.clone(), None);
    let mut asked_for = None;
    let outcome = async {
        let arrived = gate.arrive(call.at_gate(&head.headers), call.moment)?;
        under_way.check()?;
        if !arrived.is_from_proxy() {
            // Nobody's, whatever it carries.
            gate.identify(arrived, call.moment)?;
            return Err(Refusal::Unauthenticated.into());
        }
        let key = purchase_form::idempotency_key(&head.headers)?;
        let named: LegacyBody = extract::json(&call, &head.headers, body).await?;
        let identified = gate.identify_named(arrived, named.user_id, call.moment)?;
        asked_for = ActivityId::new(named.activity_id).ok();
        // The sale has its own part, and only its body names it.
        under_way.is_for(asked_for);
        under_way.check()?;
        let asked = Asked::one(asked_for, key);
        buy::admitted(&call, identified, asked, call.shared().moment()).await
    };
    let outcome = outcome.await;
    buy::finish(&call, asked_for, outcome)
}
