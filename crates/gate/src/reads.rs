//! The only stage of routes that read, and of the writes on a user's own orders.

use std::net::IpAddr;

use seckill_sale::Refusal;

use crate::{Authority, Gate, Identified, Identity, Moment, Request};

/// Where a request comes from: see [`Gate::sender`].
#[derive(Debug, Clone, Copy)]
pub struct Sender {
    client: IpAddr,
    exempt: bool,
}

impl Gate {
    /// The only stage of routes that show a user what is his, and of the writes on his own orders.
    ///
    /// # Errors
    /// [`Refusal::LimitedByIp`] before [`Refusal::Unauthenticated`], for those without identity; [`Refusal::Limited`].
    pub fn admit_read<'a>(&self, request: Request<'a>, moment: Moment) -> Result<Identified<'a>, Refusal> {
        let arrived = self.locate(request);
        let (client, exempt) = (arrived.client, arrived.exempt);
        match self.identify(arrived, moment) {
            Ok(identified) => self
                .limiters
                .check_read_by_user(&identified.user, moment.now)
                .map(|()| identified),
            Err(_) if exempt => Err(Refusal::Unauthenticated),
            Err(refusal) => self
                .limiters
                .check_read_by_address(client, moment.now)
                .and(Err(refusal)),
        }
    }

    /// Where a request comes from, for what its sender says later on.
    #[must_use]
    pub fn sender(&self, request: Request<'_>) -> Sender {
        let arrived = self.locate(request);
        Sender {
            client: arrived.client,
            exempt: arrived.exempt,
        }
    }

    /// The only stage of a WebSocket whose token comes as its first message or subprotocol.
    ///
    /// # Errors
    /// [`Refusal::LimitedByIp`] before [`Refusal::Unauthenticated`], which it is also in gateway mode, where there are no tokens;
    /// [`Refusal::Limited`].
    pub fn admit_read_with_token(&self, sender: Sender, token: &str, moment: Moment) -> Result<Identity, Refusal> {
        let verified = match &self.authority {
            Authority::Tokens(verifiers) => verifiers.verify(token, moment.now),
            Authority::Gateway => Err(Refusal::Unauthenticated),
        };
        let identity = match verified {
            Err(refusal) if !sender.exempt => {
                self.limiters.check_read_by_address(sender.client, moment.now)?;
                return Err(refusal);
            }
            verified => verified?,
        };
        self.limiters.check_read_by_user(&identity.user, moment.now)?;
        Ok(identity)
    }

    /// The only stage of pages that anybody may see. A bad identity is none here.
    ///
    /// # Errors
    /// [`Refusal::LimitedByIp`] for the anonymous, [`Refusal::Limited`] for users.
    pub fn admit_page(&self, request: Request<'_>, moment: Moment) -> Result<(), Refusal> {
        match self.admit_read(request, moment) {
            Ok(_) | Err(Refusal::Unauthenticated) => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }
}
