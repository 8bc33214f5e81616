//! How far a request has come: each stage is a value that only the gate makes, from the value of the stage before.
//!
//! ```text
//! Request ──address limit──▶ Arrived ──identity──▶ Identified ──(the caller reads body and path)──▶ Admitted
//! ```

use std::net::IpAddr;

use http::HeaderMap;
use seckill_sale::{ActivityId, EpochMs, Quantity, SharedRate, UserId};

use crate::abuse::{Refused, Suspect};
use crate::device::Device;
use crate::headers::Headers;
use crate::signature::Signature;

/// What the gate reads of a request. The body is not its matter.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Address at the other end of the connection.
    pub peer: IpAddr,
    /// All headers.
    pub headers: &'a HeaderMap,
    /// What a client's signature came to; none where no client signed it.
    pub signature: Option<&'a Signature>,
}

/// A request whose address may ask now.
#[derive(Debug)]
pub struct Arrived<'a> {
    pub(crate) headers: Headers<'a>,
    /// Where only signed devices count: the one that he has, if he has one.
    pub(crate) proven: Option<Option<Device<'a>>>,
    pub(crate) client: IpAddr,
    pub(crate) exempt: bool,
    pub(crate) from_proxy: bool,
    pub(crate) signature: Option<&'a Signature>,
}

impl Arrived<'_> {
    /// The client's address: the peer's, or what a trusted proxy says.
    #[must_use]
    pub const fn client(&self) -> IpAddr {
        self.client
    }

    /// The address of a client that signs is the shop's, behind which all its buyers stand.
    const fn is_without_address_limit(&self) -> bool {
        self.exempt || matches!(self.signature, Some(Signature::Good(_)))
    }

    /// Whether the limit of the address counts it now.
    pub(crate) const fn is_to_be_counted(&self) -> bool {
        !self.is_without_address_limit() && !self.has_paid()
    }

    /// Whether the limit of the address has counted it already.
    pub(crate) const fn has_paid(&self) -> bool {
        matches!(self.signature, Some(Signature::Bad(_)))
    }

    pub(crate) fn refused(&self) -> Refused<'_> {
        Refused {
            client: self.client,
            exempt: self.is_without_address_limit(),
            user: None,
            // A device that somebody without identity names is anybody's.
            device: None,
        }
    }

    /// Whether the peer is a trusted proxy.
    #[must_use]
    pub const fn is_from_proxy(&self) -> bool {
        self.from_proxy
    }
}

/// A request whose sender is known.
#[derive(Debug)]
pub struct Identified<'a> {
    pub(crate) arrived: Arrived<'a>,
    pub(crate) user: UserId,
    pub(crate) expires_at: Option<EpochMs>,
    /// See [`crate::Identity::level`].
    pub(crate) level: Option<u32>,
}

/// Who asks, however that was proved.
pub(crate) struct Who {
    pub(crate) user: UserId,
    pub(crate) expires_at: Option<EpochMs>,
    pub(crate) level: Option<u32>,
}

impl<'a> Arrived<'a> {
    pub(crate) fn identified(self, who: Who) -> Identified<'a> {
        Identified {
            arrived: self,
            user: who.user,
            expires_at: who.expires_at,
            level: who.level,
        }
    }
}

impl Identified<'_> {
    /// The sender.
    #[must_use]
    pub const fn user(&self) -> &UserId {
        &self.user
    }

    /// The client's address.
    #[must_use]
    pub const fn client(&self) -> IpAddr {
        self.arrived.client
    }

    /// Until when the identity holds, for streams that outlive a request; none in gateway mode and of a signed request.
    #[must_use]
    pub const fn expires_at(&self) -> Option<EpochMs> {
        self.expires_at
    }

    /// The sender alone.
    #[must_use]
    pub fn into_user(self) -> UserId {
        self.user
    }

    pub(crate) fn refused(&self) -> Refused<'_> {
        Refused {
            user: Some(&self.user),
            device: self.device(),
            ..self.arrived.refused()
        }
    }

    pub(crate) fn device(&self) -> Option<Device<'_>> {
        // Read where it is asked for, and not of those who are refused before.
        self.arrived
            .proven
            .unwrap_or_else(|| Device::named(self.arrived.headers.device))
    }
}

impl<'a> Identified<'a> {
    /// The same on a device that has its name from [`crate::Gate::new_device`] just now.
    #[must_use]
    pub fn on_device<'b>(self, name: &'b str) -> Identified<'b>
    where
        'a: 'b,
    {
        let mut identified: Identified<'b> = self;
        identified.arrived.proven = Some(Device::new(name));
        identified
    }
}

/// A purchase as the caller read it from path and body.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// The sale.
    pub activity: ActivityId,
    /// Units wanted.
    pub quantity: Quantity,
    /// The purchase token, where the body has one.
    pub token: Option<&'a str>,
}

/// What is known in memory of a buyer's earlier purchase in this sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earlier {
    /// He has a ticket.
    Ticket,
    /// He has none.
    None,
    /// Only the store can tell.
    Unknown,
}

/// A purchase that may go to the store. Nothing else may.
#[derive(Debug)]
pub struct Admitted<'a> {
    pub(crate) identified: Identified<'a>,
    pub(crate) activity: ActivityId,
    pub(crate) quantity: Quantity,
    pub(crate) challenge_passed: bool,
}

/// What goes with a purchase to the store, besides the purchase.
#[derive(Debug)]
pub struct ForTheStore {
    /// What he has to ask of the rates that all nodes count together, before he claims; nothing where each node counts for itself.
    pub rates: Vec<SharedRate>,
    /// Who it is, where the store may refuse him for something that rules of abuse count: for [`crate::Gate::note_suspect`].
    pub suspect: Option<Suspect>,
}

impl Admitted<'_> {
    /// The buyer.
    #[must_use]
    pub const fn user(&self) -> &UserId {
        self.identified.user()
    }

    /// Units wanted: not more than the sale gives to one buyer.
    #[must_use]
    pub const fn quantity(&self) -> Quantity {
        self.quantity
    }

    /// Whether the buyer has solved what the sale asks of him, or nothing is asked.
    ///
    /// Where not, he may have a ticket already, and that is told to him; he must not get a new one. Look his ticket up instead of claiming;
    /// where there is none, the answer is [`seckill_sale::Refusal::ChallengeFailed`].
    #[must_use]
    pub const fn challenge_passed(&self) -> bool {
        self.challenge_passed
    }
}
