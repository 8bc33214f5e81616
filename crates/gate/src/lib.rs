//! Layer 1, access: refuses by CPU and memory alone. No IO, no waiting and no clock: snapshots are pushed in, time is passed in.
//!
//! The order of the checks is the order of the refusals that a buyer may hear, and it stands in [`Gate::arrive`], [`Gate::identify`] and
//! [`Gate::admit_purchase`], top down. What only the store knows (earlier ticket, units, backlog) is decided behind it.
//! Cost of a purchase by a buyer who was seen before: one look-up in the token cache, three keyed hashes of short keys, two cache lines of
//! limiter tables, four snapshot loads; no allocation with user ids of at most 24 bytes. A token seen for the first time adds its signature
//! check: about 1 µs for HS256, 50–150 µs for the public-key algorithms.

mod blocks;
mod catalogue;
mod checks;
mod claims;
mod client_ip;
mod credentials;
mod derived;
mod device;
mod headers;
mod hs256;
mod identity;
mod limit_switches;
mod limiter;
mod limits;
mod object;
mod purchase_token;
mod rate;
mod reads;
mod retry_after;
mod stages;
mod switches;
mod switching;
#[cfg(test)]
mod testing;
mod token_cache;
mod user_token;
mod verifiers;
mod window;

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use seckill_sale::{ActivityId, Refusal, UserId};

use checks::check_quantity;
use credentials::{bearer, named_user};
use limits::Limiters;
use switches::Automatic;
use window::check_window;

pub use blocks::{BLOCKS_MAX, Block, Blocks, Error as BlockError, Subject};
pub use catalogue::{Activities, Catalogue, ENDED_KEPT_MS};
pub use client_ip::{Networks, client_ip};
pub use credentials::{USER_HEADER, bearer_of};
pub use derived::derived_secret;
pub use device::{DEVICE_HEADER, Device};
pub use identity::{Error as IdentityError, Expectations, Identity, PublicAlgorithm, Verifier};
pub use limit_switches::LimitSwitches;
pub use limiter::Limiter;
pub use limits::Limits;
pub use purchase_token::{Binding, LIFETIME_MS as PURCHASE_TOKEN_LIFETIME_MS, PurchaseToken, PurchaseTokens};
pub use rate::{Error as RateError, Limit, Rate};
pub use retry_after::{retry_after_ms, retry_after_s};
pub use stages::{Admitted, Arrived, Earlier, Identified, Request, Wish};
pub use switches::{AutoAdmit, Error as SwitchError, Members, Return, Sieve, Switches, SwitchesPatch};
pub use token_cache::ENTRIES_DEFAULT as TOKEN_CACHE_ENTRIES_DEFAULT;
pub use user_token::Signer;
pub use verifiers::Verifiers;
pub use window::Moment;

/// Where identities come from.
#[derive(Debug)]
pub enum Authority {
    /// Signed tokens.
    Tokens(Verifiers),
    /// `X-User-Id`, from trusted proxies only.
    Gateway,
}

/// What a gate is made of.
#[derive(Debug)]
pub struct Settings {
    /// Where identities come from.
    pub authority: Authority,
    /// Proxies whose `X-Forwarded-For`, and in gateway mode `X-User-Id`, count.
    pub trusted_proxies: Networks,
    /// Networks without address and device limit.
    pub exempt: Networks,
    /// Limits, where no switch says otherwise.
    pub limits: Limits,
    /// Places in each of the four limiter tables, 8 bytes each.
    pub table_slots: usize,
    /// Secret of purchase tokens, the same on every node.
    pub purchase_token_secret: [u8; 32],
    /// Switches at the start.
    pub switches: Switches,
}

/// All checks of layer 1.
#[derive(Debug)]
pub struct Gate {
    authority: Authority,
    trusted_proxies: Networks,
    exempt: Networks,
    limits: Limits,
    limiters: Limiters,
    purchase_tokens: PurchaseTokens,
    switches: ArcSwap<Switches>,
    /// Held while switches and the limits that follow them are changed together.
    switching: Mutex<()>,
    automatic: Automatic,
    sieve: Sieve,
    blocks: Blocks,
    catalogue: Arc<Catalogue>,
}

impl Gate {
    /// A gate that knows no activity and blocks nobody yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let Settings {
            authority,
            trusted_proxies,
            exempt,
            limits,
            table_slots,
            purchase_token_secret,
            switches,
        } = settings;
        Self {
            authority,
            trusted_proxies,
            exempt,
            limits,
            limiters: Limiters::new(switches.limits.over(limits), table_slots),
            purchase_tokens: PurchaseTokens::new(&purchase_token_secret),
            switches: ArcSwap::from_pointee(switches),
            switching: Mutex::new(()),
            automatic: Automatic::default(),
            sieve: Sieve::default(),
            blocks: Blocks::default(),
            catalogue: Arc::default(),
        }
    }

    /// First stage of the buy and token routes: the limit of the client's address.
    ///
    /// # Errors
    /// [`Refusal::LimitedByIp`].
    pub fn arrive<'a>(&self, request: Request<'a>, moment: Moment) -> Result<Arrived<'a>, Refusal> {
        let arrived = self.locate(request);
        if !arrived.exempt {
            self.limiters.check_ip(arrived.client, moment.now)?;
        }
        Ok(arrived)
    }

    /// Second stage: who it is. The caller then reads path and body, and refuses what is malformed.
    ///
    /// # Errors
    /// [`Refusal::Unauthenticated`].
    pub fn identify<'a>(&self, arrived: Arrived<'a>, moment: Moment) -> Result<Identified<'a>, Refusal> {
        match &self.authority {
            Authority::Tokens(verifiers) => {
                let Identity { user, expires_at } =
                    verifiers.verify(bearer(arrived.headers.authorization)?, moment.now)?;
                Ok(Identified {
                    arrived,
                    user,
                    expires_at: Some(expires_at),
                })
            }
            Authority::Gateway if arrived.from_proxy => {
                let user = named_user(arrived.headers.user)?;
                Ok(Identified {
                    arrived,
                    user,
                    expires_at: None,
                })
            }
            Authority::Gateway => Err(Refusal::Unauthenticated),
        }
    }

    /// Second stage where a trusted gateway names the user in the body. `X-User-Id`, where sent too, must be equal.
    ///
    /// # Errors
    /// [`Refusal::Unauthenticated`] outside of gateway mode, from anybody but a trusted proxy, and where header and body differ.
    pub fn identify_named<'a>(&self, arrived: Arrived<'a>, user: UserId) -> Result<Identified<'a>, Refusal> {
        let trusted = matches!(self.authority, Authority::Gateway) && arrived.from_proxy;
        let contradicted = arrived.headers.user.is_there() && named_user(arrived.headers.user).as_ref() != Ok(&user);
        if !trusted || contradicted {
            return Err(Refusal::Unauthenticated);
        }
        Ok(Identified {
            arrived,
            user,
            expires_at: None,
        })
    }

    /// Last stage of the buy route. `earlier` says from memory whether the buyer has a ticket; it is asked only where the challenge failed.
    ///
    /// # Errors
    /// The first refusal that applies, in the order of the checks.
    pub fn admit_purchase(
        &self,
        identified: Identified<'_>,
        wish: Wish<'_>,
        earlier: impl FnOnce(&UserId, ActivityId) -> Earlier,
        moment: Moment,
    ) -> Result<Admitted, Refusal> {
        let activities = self.catalogue.now();
        let activity = activities.find(wish.activity)?;
        check_quantity(activity, wish.quantity)?;
        let device = identified.device();
        self.blocks
            .check(identified.client(), &identified.user, device, moment.now)?;
        let switches = self.switches_at(moment.now);
        switches.check_open(activity)?;
        check_window(activity, moment, 0)?;
        // Behind the window: who is too early or too late should hear just that.
        self.sieve
            .check(switches.admit_ratio.min(self.automatic.admit_ratio()))?;
        let challenge_passed = self.passes_challenge(switches.challenge_of(activity), &identified, wish, moment);
        if !challenge_passed && earlier(&identified.user, activity.id) == Earlier::None {
            return Err(Refusal::ChallengeFailed);
        }
        self.check_rates(&identified, device, activity.id, moment)?;
        Ok(Admitted {
            user: identified.user,
            quantity: wish.quantity,
            challenge_passed,
        })
    }

    /// Last stage of the token route: a purchase token. It is given out from [`PURCHASE_TOKEN_LIFETIME_MS`] before the start on, so that
    /// a page can fetch it ahead of the rush. It counts as an attempt of its user. `random` makes it different from his last one.
    ///
    /// # Errors
    /// The first refusal that applies, in the order of the checks.
    pub fn admit_token(
        &self,
        identified: &Identified<'_>,
        activity: ActivityId,
        random: u64,
        moment: Moment,
    ) -> Result<PurchaseToken, Refusal> {
        let activity = self.catalogue.find(activity)?;
        let device = identified.device();
        self.blocks
            .check(identified.client(), &identified.user, device, moment.now)?;
        self.switches_at(moment.now).check_open(&activity)?;
        check_window(&activity, moment, PURCHASE_TOKEN_LIFETIME_MS)?;
        self.check_rates(identified, device, activity.id, moment)?;
        let binding = Binding {
            user: &identified.user,
            activity: activity.id,
            device,
        };
        Ok(self.purchase_tokens.issue(&binding, moment.now, random))
    }

    /// The sales that are known here.
    #[must_use]
    pub const fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// The blocks in force.
    #[must_use]
    pub const fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Where identities come from, for a change of key.
    #[must_use]
    pub const fn authority(&self) -> &Authority {
        &self.authority
    }
}
