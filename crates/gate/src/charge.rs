//! What a request costs before it is known whose it is: the body of a signed one, and the look at its nonce in the store. Its address pays for
//! that beforehand, so that however many come at once, no more are looked at than the limit allows; and has it back where the signature is good.

use std::net::IpAddr;

use seckill_sale::Refusal;

use crate::limits::{Permits, Route};
use crate::{Gate, Moment, Request};

/// What an address has paid for one request. Dropped, it is kept.
#[derive(Debug)]
#[must_use]
pub struct Charge(Option<Paid>);

#[derive(Debug)]
struct Paid {
    client: IpAddr,
    permits: Permits,
}

impl Gate {
    /// Takes from the address what `route` counts of it; of an exempt one nothing. Refused so, nobody is an offender: he may have a good
    /// signature. A request with a bad one carries the charge on ([`crate::Signature::Bad`]) and is not counted again.
    ///
    /// # Errors
    /// [`Refusal::LimitedByIp`]: nothing was taken.
    pub fn charge_address(&self, request: Request<'_>, route: Route, moment: Moment) -> Result<Charge, Refusal> {
        let (client, is_exempt) = self.address_of(request);
        if is_exempt {
            return Ok(Charge(None));
        }
        let permits = self.limiters.charge(route, client, moment.now)?;
        Ok(Charge(Some(Paid { client, permits })))
    }

    /// Gives it back.
    pub fn refund(&self, charge: Charge, moment: Moment) {
        if let Some(Paid { client, permits }) = charge.0 {
            self.limiters.refund(client, permits, moment.now);
        }
    }
}
