//! Layer 1, access: refuses by CPU and memory alone. No IO, no waiting and no clock: snapshots are pushed in, time is passed in.
//!
//! The order of the checks is the order of the refusals that a buyer may hear, and it stands in [`Gate::arrive`], [`Gate::identify`] and
//! [`Gate::admit_purchase`], top down. What only the store knows (earlier ticket, units, backlog) is decided behind it.
//! Cost of a purchase by a buyer who was seen before: one look-up in the token cache, three keyed hashes of short keys, two cache lines of
//! limiter tables, four snapshot loads; no allocation with user ids of at most 24 bytes. A token seen for the first time adds its signature
//! check: about 1 µs for HS256, 50–150 µs for the public-key algorithms.

mod abuse;
mod blocks;
mod catalogue;
mod challenge;
mod charge;
mod checks;
mod client_ip;
mod derived;
mod device;
mod devices;
mod eligibility;
mod headers;
mod identity;
mod limits;
mod purchase_token;
mod reads;
mod settings;
mod signature;
mod stages;
mod switches;
mod switching;
#[cfg(test)]
mod testing;
mod token_route;
mod window;

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use seckill_sale::{ActivityId, Refusal, UserId};

use challenge::Challenges;
use checks::check_quantity;
use devices::Devices;
use identity::credentials::named_user;
use limits::Limiters;
use switches::Automatic;
use window::check_window;

pub use abuse::{Abuse, AbuseRules, OFFENCE, OFFENDERS_MAX, Offender, Suspect};
pub use blocks::{BLOCKS_MAX, Block, Blocks, Error as BlockError, Subject};
pub use catalogue::{Activities, Catalogue, ENDED_KEPT_MS};
pub use challenge::attempt::{Attempt, Solved};
pub use challenge::{ANSWER_LENGTH_MAX, CHALLENGE_LIFETIME_MS, CHALLENGE_TRIES_MAX, Exercise, Posed};
pub use charge::Charge;
pub use client_ip::{Networks, client_ip};
pub use derived::derived_secret;
pub use device::{DEVICE_HEADER, Device};
pub use devices::DeviceRule;
pub use eligibility::{
    BLOOM_BITS_MAX, BLOOM_HASHES_MAX, ELIGIBLE_LISTS_MAX, ELIGIBLE_USERS_MAX, EligibleLists, EligibleUsers, fingerprint,
};
pub use identity::clients::{CLIENT_HEADER, Clients, SignedRequest, Vouched};
pub use identity::credentials::{USER_HEADER, bearer_of};
pub use identity::jwks::JWKS_BYTES_MAX;
pub use identity::more_claims::RequiredClaim;
pub use identity::token_cache::ENTRIES_DEFAULT as TOKEN_CACHE_ENTRIES_DEFAULT;
pub use identity::user_token::Signer;
pub use identity::verifiers::Verifiers;
pub use identity::{Error as IdentityError, Expectations, Identity, PublicAlgorithm, Verifier};
pub use limits::limiter::{Limiter, Wait};
pub use limits::per_limit::PerLimit;
pub use limits::rate::{Error as RateError, Limit, Rate};
pub use limits::retry_after::{retry_after_ms, retry_after_s};
pub use limits::switches::LimitSwitches;
pub use limits::{Limits, RateLimiting, Route};
pub use purchase_token::{Binding, LIFETIME_MS as PURCHASE_TOKEN_LIFETIME_MS, PurchaseToken, PurchaseTokens};
pub use reads::Sender;
pub use settings::{Authority, Settings};
pub use signature::Signature;
pub use stages::{Admitted, Arrived, Earlier, ForTheStore, Identified, Request, Wish};
pub use switches::{AutoAdmit, Error as SwitchError, Members, Return, Sieve, Switches, SwitchesPatch};
pub use token_route::{Random, TokenStep, TokenWish};
pub use window::Moment;

/// All checks of layer 1.
#[derive(Debug)]
pub struct Gate {
    authority: Authority,
    trusted_proxies: Networks,
    exempt: Networks,
    limits: Limits,
    rate_limiting: RateLimiting,
    limiters: Limiters,
    purchase_tokens: PurchaseTokens,
    devices: Devices,
    challenges: Challenges,
    switches: ArcSwap<Switches>,
    /// Held while switches and the limits that follow them are changed together.
    switching: Mutex<()>,
    automatic: Automatic,
    sieve: Sieve,
    abuse: Abuse,
    blocks: Blocks,
    clients: Clients,
    eligible: EligibleLists,
    catalogue: Arc<Catalogue>,
}

impl Gate {
    /// A gate that knows no activity and blocks nobody yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let Settings {
            authority,
            clients,
            trusted_proxies,
            exempt,
            limits,
            rate_limiting,
            abuse,
            table_slots,
            purchase_token_secret,
            devices,
            pow_bits,
            switches,
        } = settings;
        Self {
            authority,
            trusted_proxies,
            exempt,
            limits,
            rate_limiting,
            limiters: Limiters::new(switches.limits.over(limits), table_slots),
            purchase_tokens: PurchaseTokens::new(&purchase_token_secret),
            devices: Devices::new(devices, &purchase_token_secret),
            challenges: Challenges::new(&purchase_token_secret, pow_bits),
            switches: ArcSwap::from_pointee(switches),
            switching: Mutex::new(()),
            automatic: Automatic::default(),
            sieve: Sieve::default(),
            abuse: Abuse::new(abuse, table_slots),
            blocks: Blocks::default(),
            clients,
            eligible: EligibleLists::default(),
            catalogue: Arc::default(),
        }
    }

    /// First stage of the buy and token routes: the limit of the client's address.
    ///
    /// # Errors
    /// [`Refusal::LimitedByIp`].
    pub fn arrive<'a>(&self, request: Request<'a>, moment: Moment) -> Result<Arrived<'a>, Refusal> {
        let arrived = self.locate(request);
        if arrived.is_to_be_counted() {
            if let Err(refusal) = self.limiters.check_ip(arrived.client, moment.now) {
                self.abuse.note(&refusal, || arrived.refused(), moment.now);
                return Err(refusal);
            }
            // Not noted: it is others who have used it up.
            self.limiters.check_network(arrived.client, moment.now)?;
        }
        Ok(arrived)
    }

    /// Second stage: who it is. The caller then reads path and body, and refuses what is malformed.
    ///
    /// # Errors
    /// [`Refusal::Unauthenticated`].
    pub fn identify<'a>(&self, arrived: Arrived<'a>, moment: Moment) -> Result<Identified<'a>, Refusal> {
        match self.who(&arrived, moment) {
            Ok(who) => Ok(arrived.identified(who)),
            Err(refusal) => {
                self.abuse.note(&refusal, || arrived.refused(), moment.now);
                Err(refusal)
            }
        }
    }

    /// Second stage where a trusted gateway names the user in the body. `X-User-Id`, where sent too, must be equal.
    ///
    /// # Errors
    /// [`Refusal::Unauthenticated`] outside of gateway mode, from anybody but a trusted proxy, and where header and body differ.
    pub fn identify_named<'a>(
        &self,
        arrived: Arrived<'a>,
        user: UserId,
        moment: Moment,
    ) -> Result<Identified<'a>, Refusal> {
        let trusted = matches!(self.authority, Authority::Gateway) && arrived.from_proxy;
        let contradicted = arrived.headers.user.is_there() && named_user(arrived.headers.user).as_ref() != Ok(&user);
        if !trusted || contradicted {
            self.abuse
                .note(&Refusal::Unauthenticated, || arrived.refused(), moment.now);
            return Err(Refusal::Unauthenticated);
        }
        Ok(Identified {
            arrived,
            user,
            expires_at: None,
            level: None,
        })
    }

    /// Last stage of the buy route. `earlier` says from memory whether the buyer has a ticket; it is asked only where the challenge failed.
    ///
    /// # Errors
    /// The first refusal that applies, in the order of the checks.
    pub fn admit_purchase<'a>(
        &self,
        identified: Identified<'a>,
        wish: Wish<'_>,
        earlier: impl FnOnce(&UserId, ActivityId) -> Earlier,
        moment: Moment,
    ) -> Result<Admitted<'a>, Refusal> {
        match self.check_purchase(&identified, wish, earlier, moment) {
            Ok(challenge_passed) => Ok(Admitted {
                identified,
                activity: wish.activity,
                quantity: wish.quantity,
                challenge_passed,
            }),
            Err(refusal) => {
                self.note_refused(&refusal, &identified, moment);
                Err(refusal)
            }
        }
    }

    /// What goes with an admitted purchase to the store. Whom memory answers needs none of it.
    #[must_use]
    pub fn for_the_store(&self, admitted: &Admitted<'_>) -> ForTheStore {
        let rates = self.shared_rates(&admitted.identified, admitted.activity);
        let may_be_refused = !admitted.challenge_passed || !rates.is_empty();
        let suspect = may_be_refused.then(|| self.abuse.suspect(|| admitted.identified.refused()));
        ForTheStore {
            rates,
            suspect: suspect.flatten(),
        }
    }

    /// All checks of the last stage of the buy route, in their order. Says whether the challenge was passed.
    fn check_purchase(
        &self,
        identified: &Identified<'_>,
        wish: Wish<'_>,
        earlier: impl FnOnce(&UserId, ActivityId) -> Earlier,
        moment: Moment,
    ) -> Result<bool, Refusal> {
        let activities = self.catalogue.now();
        let activity = activities.find(wish.activity)?;
        check_quantity(activity, wish.quantity)?;
        let device = identified.device();
        self.blocks
            .check(identified.client(), &identified.user, device, moment.now)?;
        self.eligible.check(activity, &identified.user, identified.level)?;
        let switches = self.switches_at(moment.now);
        switches.check_open(activity, moment)?;
        check_window(activity, moment, 0)?;
        // Behind the window: who is too early or too late should hear just that.
        self.sieve
            .check(switches.admit_ratio.min(self.automatic.admit_ratio(activity.id)))?;
        let challenge_passed = self.devices.allow(device)
            && self.passes_challenge(switches.challenge_of(activity), identified, wish, moment);
        if !challenge_passed && earlier(&identified.user, activity.id) == Earlier::None {
            return Err(Refusal::ChallengeFailed);
        }
        self.check_rates(identified, device, activity.id, moment)?;
        self.limiters.check_everybody(activity.id, moment.now)?;
        Ok(challenge_passed)
    }

    /// The sales that are known here.
    #[must_use]
    pub const fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// Counts a refusal that was found behind the gate, such as a wrong answer to a challenge.
    pub fn note_refused(&self, refusal: &Refusal, identified: &Identified<'_>, moment: Moment) {
        self.abuse.note(refusal, || identified.refused(), moment.now);
    }

    /// Counts a refusal of a purchase that only the store could refuse: by a rate that all nodes share, or for want of a challenge.
    pub fn note_suspect(&self, refusal: &Refusal, suspect: &Suspect, moment: Moment) {
        self.abuse.note(refusal, || suspect.refused(), moment.now);
    }

    /// Who is to be blocked.
    #[must_use]
    pub const fn abuse(&self) -> &Abuse {
        &self.abuse
    }

    /// Who may sign requests for others.
    #[must_use]
    pub const fn clients(&self) -> &Clients {
        &self.clients
    }

    /// The lists of those who may buy.
    #[must_use]
    pub const fn eligible(&self) -> &EligibleLists {
        &self.eligible
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
