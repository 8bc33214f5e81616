//! The check of one signature, from the charge of its address to the answer of the store. Why in this order says [`crate::signed`].

use std::panic::resume_unwind;

use bytes::Bytes;
use http::HeaderMap;
use http::request::Parts;
use seckill_gate::{Charge, Route, Signature, SignedRequest, Vouched};
use seckill_sale::{ActivityId, Refusal};

use crate::call::Call;
use crate::error::Error;
use crate::extract::{self, Incoming};
use crate::in_flight::UnderWay;
use crate::nonces::Claimed;

/// A request whose head a client can have signed, and for which its address has paid.
pub(crate) struct SignatureCheck {
    /// Bodies that trickle in are as many as purchases may be.
    under_way: UnderWay,
    route: Route,
    charge: Charge,
}

/// What came of it.
pub(crate) struct Checked {
    pub(crate) signature: Signature,
    pub(crate) body: Bytes,
}

impl SignatureCheck {
    /// Takes what it costs; `sale` is what its path names.
    ///
    /// # Errors
    /// [`Refusal::LimitedByIp`], [`Refusal::Busy`]: nothing was taken.
    pub(crate) fn begin(
        call: &Call,
        route: Route,
        sale: Option<ActivityId>,
        headers: &HeaderMap,
    ) -> Result<Self, Refusal> {
        let gate = &call.shared().gate;
        let charge = gate.charge_address(call.at_gate(headers), route, call.moment)?;
        if let Err(refusal) = call.check_in_flight(sale) {
            gate.refund(charge, call.moment);
            return Err(refusal);
        }
        Ok(Self {
            under_way: UnderWay::begin(call.clone(), sale),
            route,
            charge,
        })
    }

    pub(crate) fn call(&self) -> &Call {
        &self.under_way.0
    }

    /// Reads the body and checks the signature.
    ///
    /// # Errors
    /// Those of the body, for which the address has paid. [`Refusal::Busy`] where the store can't say whether the nonce is new,
    /// [`Refusal::NotReady`]. [`Refusal::LimitedByIp`] for one that was used.
    pub(crate) async fn finish(self, head: &Parts, body: impl Incoming) -> Result<Checked, Error> {
        let Self {
            under_way,
            route,
            charge,
        } = self;
        let call = under_way.0.clone();
        let (shared, gate) = (call.shared(), &call.shared().gate);
        let body = extract::read(&call, &head.headers, body, shared.settings.body_bytes_max).await?;
        let request = SignedRequest {
            method: head.method.as_str(),
            target: head.uri.path_and_query().map_or("/", |target| target.as_str()),
            headers: &head.headers,
            body: &body,
        };
        let vouched = gate.clients().verify(request, shared.moment().now);
        let claimed = vouched.and_then(|vouched| Some((Claimed::begin(under_way, vouched.nonce())?, vouched)));
        let Some((claimed, vouched)) = claimed else {
            let signature = Signature::Bad(charge);
            return Ok(Checked { signature, body });
        };
        gate.refund(charge, shared.moment());
        let signature = if is_new(claimed, &vouched).await? {
            Signature::Good(vouched)
        } else {
            Signature::Bad(gate.charge_address(call.at_gate(&head.headers), route, shared.moment())?)
        };
        Ok(Checked { signature, body })
    }
}

/// Whether the store sees the nonce for the first time. A task of its own asks, which goes on where the request is gone.
async fn is_new(claimed: Claimed, vouched: &Vouched) -> Result<bool, Refusal> {
    let (nonce, until) = (vouched.nonce(), vouched.until());
    let asked = tokio::spawn(async move {
        let permitted = claimed.call().shared().stock.permit(nonce, 1, until).await;
        // With its place, which goes over to what was signed without a gap.
        (permitted, claimed)
    });
    match asked.await {
        Ok((Ok(is_new), _claimed)) => Ok(is_new),
        Ok((Err(seckill_stock::Error::NotReady(reason)), _claimed)) => Err(Refusal::NotReady(reason)),
        // Whether the nonce is used up is not known, and nothing was done: the client signs another request.
        Ok((Err(seckill_stock::Error::OutcomeUnknown | seckill_stock::Error::Unavailable), _claimed)) => {
            Err(Refusal::Busy)
        }
        Err(ended) => match ended.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The process ends.
            Err(_) => Err(Refusal::Busy),
        },
    }
}
