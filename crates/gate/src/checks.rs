//! Single checks of the last stage; their order stands in [`Gate::admit_purchase`].

use seckill_sale::{Activity, ActivityId, Challenge, EpochMs, Quantity, Refusal, UserId};

use crate::credentials::{bearer, named_user};
use crate::headers::Headers;
use crate::purchase_token::Binding;
use crate::{Arrived, Authority, Device, Gate, Identified, Identity, Moment, Request, Wish, client_ip};

impl Gate {
    /// Whose address asks, and the headers that count.
    pub(crate) fn locate<'a>(&self, request: Request<'a>) -> Arrived<'a> {
        let peer = request.peer.to_canonical();
        let from_proxy = self.trusted_proxies.contains(peer);
        let client = client_ip(peer, request.headers, &self.trusted_proxies);
        Arrived {
            headers: Headers::of(request.headers),
            client,
            exempt: self.exempt.contains(client),
            from_proxy,
        }
    }

    /// Who asks, and until when his token proves it.
    pub(crate) fn who(&self, arrived: &Arrived<'_>, moment: Moment) -> Result<(UserId, Option<EpochMs>), Refusal> {
        match &self.authority {
            Authority::Tokens(verifiers) => {
                let Identity { user, expires_at } =
                    verifiers.verify(bearer(arrived.headers.authorization)?, moment.now)?;
                Ok((user, Some(expires_at)))
            }
            Authority::Gateway if arrived.from_proxy => Ok((named_user(arrived.headers.user)?, None)),
            Authority::Gateway => Err(Refusal::Unauthenticated),
        }
    }

    /// Whether what the sale asks for was met.
    pub(crate) fn passes_challenge(
        &self,
        asked: Challenge,
        identified: &Identified<'_>,
        wish: Wish<'_>,
        moment: Moment,
    ) -> bool {
        match asked {
            Challenge::None => true,
            asked => wish.token.is_some_and(|token| {
                let binding = Binding {
                    user: &identified.user,
                    activity: wish.activity,
                    device: identified.device(),
                };
                self.purchase_tokens.accepts(token, asked, &binding, moment.now)
            }),
        }
    }

    /// The limits of the user and, unless his network is exempt, of his device.
    pub(crate) fn check_rates(
        &self,
        identified: &Identified<'_>,
        device: Option<Device<'_>>,
        activity: ActivityId,
        moment: Moment,
    ) -> Result<(), Refusal> {
        self.limiters.check_user(&identified.user, activity, moment.now)?;
        match device.filter(|_| !identified.arrived.exempt) {
            Some(device) => self.limiters.check_device(device, moment.now),
            None => Ok(()),
        }
    }
}

/// Whether the sale gives so many units to one buyer.
pub(crate) fn check_quantity(activity: &Activity, quantity: Quantity) -> Result<(), Refusal> {
    if activity.per_user_limit < quantity {
        Err(Refusal::QuantityAboveLimit)
    } else {
        Ok(())
    }
}
