//! Challenges that a sale asks for before it gives a purchase token: a picture to read, or work to do.
//!
//! ```text
//! pose ──▶ id ‖ picture or work ──(the buyer solves it)──▶ id, answer
//!      check: form, seal, kind, expiry (CPU) ──▶ take a try ──▶ compare ──▶ take the one use ──▶ token
//! ```
//! The id is `base64url(version ‖ kind ‖ bits ‖ expiry ‖ nonce ‖ HMAC)`, sealed over user, activity and device as well, which do not stand
//! in it. What is asked, and so the answer, comes from a keyed hash of the nonce: nothing of it leaves the server, no node remembers anything,
//! and no challenge can be solved before it was posed. What has to be remembered, tries and the one use, is permits of the store under
//! keys that come from the nonce, too. The gate makes the keys; whoever has a store takes the permits.

pub(crate) mod attempt;
pub(crate) mod captcha;
pub(crate) mod pow;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use seckill_sale::{Challenge, EpochMs};
use sha2::Sha256;

use crate::challenge::attempt::Attempt;
use crate::derived::derived_secret;
use crate::purchase_token::{Binding, bind};

/// How long a challenge can be answered.
pub const CHALLENGE_LIFETIME_MS: u32 = 2 * 60 * 1000;
/// Answers that are looked at, the right one included.
pub const CHALLENGE_TRIES_MAX: u32 = 5;
/// Longest answer, in characters.
pub const ANSWER_LENGTH_MAX: usize = 64;

const VERSION: u8 = 1;
const BITS_AT: usize = 2;
const EXPIRY_AT: usize = 3;
const NONCE_AT: usize = 11;
const TAG_AT: usize = 27;
const LENGTH: usize = TAG_AT + 32;

/// What is asked of a buyer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exercise {
    /// Read and work out what the picture says.
    Captcha {
        /// An SVG document, without any text in it.
        image: String,
    },
    /// Find a text so that SHA-256 of prefix and text begins with so many zero bits.
    Pow {
        /// 32 characters.
        prefix: String,
        /// How many.
        bits: u8,
    },
}

/// A challenge as a buyer gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posed {
    /// To be sent back with the answer; 79 characters.
    pub id: String,
    /// What is asked.
    pub exercise: Exercise,
    /// First moment at which no answer is taken any more.
    pub expires_at: EpochMs,
}

/// Poses challenges and looks at answers with one key, the same on every node.
#[derive(Clone)]
pub(crate) struct Challenges {
    keyed: Hmac<Sha256>,
    pow_bits: u8,
}

impl std::fmt::Debug for Challenges {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Challenges").finish_non_exhaustive()
    }
}

impl Challenges {
    /// `pow_bits`: how much work is asked for where work is.
    pub(crate) fn new(purchase_token_secret: &[u8; 32], pow_bits: u8) -> Self {
        let secret = derived_secret(purchase_token_secret, "challenges");
        Self {
            keyed: Hmac::new_from_slice(&secret).expect("HMAC takes a key of any length"),
            pow_bits,
        }
    }

    /// A challenge that can be answered from now on; none where a sale asks for nothing that has to be solved. `random` must not be
    /// foreseen by anybody.
    pub(crate) fn pose(&self, kind: Challenge, binding: &Binding<'_>, now: EpochMs, random: u128) -> Option<Posed> {
        let bits = match kind {
            Challenge::Captcha => 0,
            Challenge::Pow => self.pow_bits,
            Challenge::None | Challenge::Token => return None,
        };
        let attempt = Attempt {
            keyed: self.keyed.clone(),
            kind,
            bits,
            nonce: random.to_be_bytes(),
            expires_at: now.plus(i64::from(CHALLENGE_LIFETIME_MS)),
        };
        let mut bytes = [0_u8; LENGTH];
        bytes[..EXPIRY_AT].copy_from_slice(&[VERSION, kind_byte(kind), bits]);
        bytes[EXPIRY_AT..NONCE_AT].copy_from_slice(&attempt.expires_at.0.to_be_bytes());
        bytes[NONCE_AT..TAG_AT].copy_from_slice(&attempt.nonce);
        let tag = self.sealed(&bytes[..TAG_AT], binding).finalize().into_bytes();
        bytes[TAG_AT..].copy_from_slice(&tag);
        Some(Posed {
            id: URL_SAFE_NO_PAD.encode(bytes),
            exercise: attempt.exercise(),
            expires_at: attempt.expires_at,
        })
    }

    /// The challenge of this id, where it was posed here, to this buyer, is of the kind that is asked for now, and can still be answered.
    pub(crate) fn check(&self, id: &str, asked: Challenge, binding: &Binding<'_>, now: EpochMs) -> Option<Attempt> {
        // The decoder wants room for whole groups of three bytes.
        let mut bytes = [0_u8; LENGTH + 1];
        if URL_SAFE_NO_PAD.decode_slice(id, &mut bytes) != Ok(LENGTH) {
            return None;
        }
        let (head, tag) = bytes[..LENGTH].split_at(TAG_AT);
        self.sealed(head, binding).verify_slice(tag).ok()?;
        let expires_at = EpochMs(i64::from_be_bytes(head[EXPIRY_AT..NONCE_AT].try_into().ok()?));
        let is_good = head[0] == VERSION && head[1] == kind_byte(asked) && now < expires_at;
        is_good.then(|| Attempt {
            keyed: self.keyed.clone(),
            kind: asked,
            bits: head[BITS_AT],
            nonce: *head[NONCE_AT..].first_chunk().expect("sixteen bytes"),
            expires_at,
        })
    }

    fn sealed(&self, head: &[u8], binding: &Binding<'_>) -> Hmac<Sha256> {
        let mut keyed = self.keyed.clone();
        keyed.update(b"\x04seal");
        keyed.update(head);
        bind(&mut keyed, binding);
        keyed
    }
}

/// The kind in ids and tokens. Never another one for the same kind.
pub(crate) const fn kind_byte(kind: Challenge) -> u8 {
    match kind {
        Challenge::None => 0,
        Challenge::Token => 1,
        Challenge::Captcha => 2,
        Challenge::Pow => 3,
    }
}

#[cfg(test)]
pub(crate) mod tests;
