//! The only stage of routes that read, and of the writes on a user's own orders.

use std::net::IpAddr;

use seckill_sale::{ActivityId, EpochMs, Refusal, UserId};

use crate::{Arrived, Authority, Gate, Identified, Identity, Moment, Request};

/// Where a request comes from: see [`Gate::sender`].
#[derive(Debug, Clone, Copy)]
pub struct Sender {
    client: IpAddr,
    exempt: bool,
}

impl Sender {
    const fn of(arrived: &Arrived<'_>) -> Self {
        Self {
            client: arrived.client,
            exempt: arrived.exempt,
        }
    }
}

impl Gate {
    /// The only stage of routes that show a user what is his, and of the writes on his own orders.
    ///
    /// # Errors
    /// [`Refusal::LimitedByIp`] before [`Refusal::Unauthenticated`], for those without identity; [`Refusal::Limited`].
    pub fn admit_read<'a>(&self, request: Request<'a>, moment: Moment) -> Result<Identified<'a>, Refusal> {
        let arrived = self.locate(request);
        match self.who(&arrived, moment) {
            Ok(who) => self
                .limiters
                .check_read_by_user(&who.user, moment.now)
                .map(|()| arrived.identified(who)),
            Err(refusal) => Err(self.refused_read(refusal, &arrived, moment)),
        }
    }

    /// The only stage of a WebSocket's handshake, with the token of its subprotocol where there is one: whose it is and until when, or none
    /// where nothing says so and the first message may.
    ///
    /// # Errors
    /// As [`Gate::admit_read`].
    pub fn admit_socket(
        &self,
        request: Request<'_>,
        token: Option<&str>,
        moment: Moment,
    ) -> Result<Option<(UserId, Option<EpochMs>)>, Refusal> {
        let arrived = self.locate(request);
        let known = match token.filter(|_| arrived.signature.is_none()) {
            Some(token) => self.verified(token, moment).map(|id| (id.user, Some(id.expires_at))),
            None => self.who(&arrived, moment).map(|who| (who.user, who.expires_at)),
        };
        let is_open = token.is_none() && arrived.signature.is_none() && !arrived.headers.authorization.is_there();
        match known {
            Ok(known) => self
                .limiters
                .check_read_by_user(&known.0, moment.now)
                .map(|()| Some(known)),
            Err(_) if is_open => self.check_read_address(Sender::of(&arrived), moment).map(|()| None),
            Err(refusal) => Err(self.refused_read(refusal, &arrived, moment)),
        }
    }

    /// Where a request comes from, for what its sender says later on.
    #[must_use]
    pub fn sender(&self, request: Request<'_>) -> Sender {
        Sender::of(&self.locate(request))
    }

    /// The only stage of a WebSocket whose token comes as its first message.
    ///
    /// # Errors
    /// [`Refusal::LimitedByIp`] before [`Refusal::Unauthenticated`], which it is also in gateway mode, where there are no tokens;
    /// [`Refusal::Limited`].
    pub fn admit_read_with_token(&self, sender: Sender, token: &str, moment: Moment) -> Result<Identity, Refusal> {
        let identity = match self.verified(token, moment) {
            Err(refusal) => return self.check_read_address(sender, moment).and(Err(refusal)),
            Ok(identity) => identity,
        };
        self.limiters.check_read_by_user(&identity.user, moment.now)?;
        Ok(identity)
    }

    /// The only stage of pages that anybody may see. A bad identity is none here, and nobody is refused for having none, so that it is no
    /// offence either.
    ///
    /// # Errors
    /// [`Refusal::LimitedByIp`] for the anonymous, [`Refusal::Limited`] for users.
    pub fn admit_page(&self, request: Request<'_>, moment: Moment) -> Result<(), Refusal> {
        let arrived = self.locate(request);
        match self.who(&arrived, moment) {
            Ok(who) => self.limiters.check_read_by_user(&who.user, moment.now),
            Err(Refusal::Unauthenticated) => self.check_read_address(Sender::of(&arrived), moment),
            Err(refusal) => self.check_read_address(Sender::of(&arrived), moment).and(Err(refusal)),
        }
    }

    /// Whether the store may be asked for what a refused purchase came to when it was sent before. It counts as an attempt of the user:
    /// whoever asks too often hears the refusal that he was to hear.
    #[must_use]
    pub fn may_ask_again(&self, user: &UserId, activity: ActivityId, moment: Moment) -> bool {
        self.limiters.check_user(user, activity, moment.now).is_ok()
    }

    fn verified(&self, token: &str, moment: Moment) -> Result<Identity, Refusal> {
        match &self.authority {
            Authority::Tokens(verifiers) => verifiers.verify(token, moment.now),
            Authority::Gateway => Err(Refusal::Unauthenticated),
        }
    }

    /// What somebody hears whose identity does not hold. No offence: a page of somebody else's can make any visitor's browser ask for what
    /// it must not see, and would have him blocked.
    fn refused_read(&self, refusal: Refusal, arrived: &Arrived<'_>, moment: Moment) -> Refusal {
        if arrived.has_paid() {
            return refusal;
        }
        self.check_read_address(Sender::of(arrived), moment)
            .err()
            .unwrap_or(refusal)
    }

    fn check_read_address(&self, sender: Sender, moment: Moment) -> Result<(), Refusal> {
        match sender.exempt {
            true => Ok(()),
            false => self.limiters.check_read_by_address(sender.client, moment.now),
        }
    }
}
