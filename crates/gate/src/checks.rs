//! Single checks of the last stage; their order stands in [`Gate::admit_purchase`].

use std::net::IpAddr;

use seckill_sale::{Activity, ActivityId, Challenge, Quantity, Refusal};

use crate::headers::Headers;
use crate::identity::credentials::{bearer, named_user};
use crate::purchase_token::Binding;
use crate::stages::Who;
use crate::{Arrived, Authority, Device, Gate, Identified, Moment, Request, Signature, Wish, client_ip};

impl Gate {
    /// Whose address asks, and the headers that count.
    pub(crate) fn locate<'a>(&self, request: Request<'a>) -> Arrived<'a> {
        let (client, exempt) = self.address_of(request);
        let headers = Headers::of(request.headers);
        Arrived {
            proven: self.devices.proven(headers.device),
            headers,
            client,
            exempt,
            from_proxy: self.trusted_proxies.contains(request.peer.to_canonical()),
            signature: request.signature,
        }
    }

    /// The client's address, and whether its network is exempt.
    pub(crate) fn address_of(&self, request: Request<'_>) -> (IpAddr, bool) {
        let client = client_ip(request.peer.to_canonical(), request.headers, &self.trusted_proxies);
        (client, self.exempt.contains(client))
    }

    /// Who asks. A client's signature, right or wrong, goes before everything else that a request carries.
    pub(crate) fn who(&self, arrived: &Arrived<'_>, moment: Moment) -> Result<Who, Refusal> {
        let without_token = |user| Who {
            user,
            expires_at: None,
            level: None,
        };
        match (arrived.signature, &self.authority) {
            (Some(Signature::Good(vouched)), _) => Ok(without_token(vouched.user.clone())),
            (Some(Signature::Malformed | Signature::Bad(_)), _) => Err(Refusal::Unauthenticated),
            (None, Authority::Tokens(verifiers)) => {
                let identity = verifiers.verify(bearer(arrived.headers.authorization)?, moment.now)?;
                Ok(Who {
                    user: identity.user,
                    expires_at: Some(identity.expires_at),
                    level: identity.level,
                })
            }
            (None, Authority::Gateway) if arrived.from_proxy => named_user(arrived.headers.user).map(without_token),
            (None, Authority::Gateway) => Err(Refusal::Unauthenticated),
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
