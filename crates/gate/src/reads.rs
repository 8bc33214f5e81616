//! The only stage of routes that read, and of the writes on a user's own orders.

use seckill_sale::Refusal;

use crate::{Authority, Gate, Identified, Identity, Moment, Request};

impl Gate {
    /// The only stage of routes that show a user what is his, and of the writes on his own orders.
    ///
    /// # Errors
    /// [`Refusal::LimitedByIp`] before [`Refusal::Unauthenticated`], for those without identity; [`Refusal::Limited`].
    pub fn admit_read<'a>(&self, request: Request<'a>, moment: Moment) -> Result<Identified<'a>, Refusal> {
        let arrived = self.locate(request);
        let (client, exempt) = (arrived.client, arrived.exempt);
        // Not noted as abuse: of pages and streams nobody has to say who he is, or he says it later.
        match self.who(&arrived, moment) {
            Ok(who) => self
                .limiters
                .check_read_by_user(&who.user, moment.now)
                .map(|()| Identified::new(arrived, who)),
            Err(_) if exempt => Err(Refusal::Unauthenticated),
            Err(refusal) => self
                .limiters
                .check_read_by_address(client, moment.now)
                .and(Err(refusal)),
        }
    }

    /// The only stage of a WebSocket whose token comes as its first message or subprotocol.
    ///
    /// # Errors
    /// [`Refusal::Unauthenticated`], also in gateway mode, where there are no tokens; [`Refusal::Limited`].
    pub fn admit_read_with_token(&self, token: &str, moment: Moment) -> Result<Identity, Refusal> {
        let Authority::Tokens(verifiers) = &self.authority else {
            return Err(Refusal::Unauthenticated);
        };
        let identity = verifiers.verify(token, moment.now)?;
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
