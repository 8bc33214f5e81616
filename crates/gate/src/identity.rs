//! Who a request comes from, by a signed token. One algorithm and its keys, fixed by the settings; of a token's header only `kid` selects, and
//! only among these keys.
//! Not here: single sign-out. A token is good until its `exp`; keep it short, block the user, or change the key.

pub(crate) mod claims;
pub(crate) mod clients;
pub(crate) mod credentials;
mod error;
pub(crate) mod hs256;
pub(crate) mod jwks;
pub(crate) mod more_claims;
pub(crate) mod object;
pub(crate) mod public_keys;
pub(crate) mod token_cache;
pub(crate) mod user_token;
mod verifier;
pub(crate) mod verifiers;

use seckill_sale::{EpochMs, UserId};

use crate::identity::more_claims::RequiredClaim;

pub use error::Error;
pub use verifier::Verifier;

/// A buyer, and until when his token proves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The buyer.
    pub user: UserId,
    /// First moment at which the token is not accepted any more, leeway included.
    pub expires_at: EpochMs,
    /// His level, where the settings name the claim that says it and the token has it.
    pub level: Option<u32>,
}

impl Identity {
    /// Whether the token still counts at `now`.
    #[must_use]
    pub fn is_live_at(&self, now: EpochMs) -> bool {
        now < self.expires_at
    }
}

/// What tokens must say besides `sub` and `exp`.
#[derive(Debug, Clone, Default)]
pub struct Expectations {
    /// The audience that `aud` must name; none: `aud` is not looked at.
    pub audience: Option<String>,
    /// The issuer that `iss` must name; none: `iss` is not looked at.
    pub issuer: Option<String>,
    /// Seconds after `exp` and before `nbf` in which a token counts, at most 60. 0 by default: issuer and node run NTP, a token lives for
    /// minutes or more, and a leeway only prolongs what the issuer said.
    pub leeway_s: u32,
    /// Claims that a token must have.
    pub required: Vec<RequiredClaim>,
    /// The claim that says the user's level.
    pub level_claim: Option<String>,
}

impl Expectations {
    /// Whether the claims must be read beyond those that every token has.
    const fn ask_more(&self) -> bool {
        !self.required.is_empty() || self.level_claim.is_some()
    }
}

/// Algorithm of tokens that are checked with a public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublicAlgorithm {
    /// RSA PKCS#1 v1.5 with SHA-256.
    Rs256,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}
