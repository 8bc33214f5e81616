//! Purchase tokens: proof that this buyer asked for this sale from this device a moment ago, so that the buy route can't be used by its
//! address alone.
//!
//! A token is `base64url(version ‖ met ‖ expiry ‖ nonce ‖ HMAC-SHA256(key, all of it and user, activity, device))`, where `met` is the
//! challenge that its buyer met for it: a sale that asks for more does not take it. What it is bound to does not stand in it: it is taken from the request that presents it. No node remembers tokens. Single use is the buyer's entry in the sale: a
//! second purchase of the same buyer is refused whatever token it carries, and a refused attempt spends nothing.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use seckill_sale::{ActivityId, Challenge, EpochMs, UserId};
use sha2::Sha256;

use crate::challenge::kind_byte;
use crate::device::Device;

/// How long a token can be used: from the page's opening to the click, not longer.
pub const LIFETIME_MS: u32 = 5 * 60 * 1000;

/// Separates these signatures from whatever else the same key may sign, and carries the version of the layout.
const CONTEXT: &[u8] = b"seckill purchase token 2";
const VERSION: u8 = 2;
const MET_AT: usize = 1;
const EXPIRY_AT: usize = 2;
const NONCE_AT: usize = 10;
const TAG_AT: usize = 18;
const LENGTH: usize = TAG_AT + 32;

/// What a token is bound to.
#[derive(Debug, Clone, Copy)]
pub struct Binding<'a> {
    /// The buyer.
    pub user: &'a UserId,
    /// The sale.
    pub activity: ActivityId,
    /// The device, where the client names one; it must name the same one when it buys.
    pub device: Option<Device<'a>>,
}

/// A token as the buyer gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurchaseToken {
    /// 67 characters of base64url.
    pub text: String,
    /// First moment at which it is not accepted any more.
    pub expires_at: EpochMs,
}

/// Makes and checks tokens with one key, the same on every node.
#[derive(Clone)]
pub struct PurchaseTokens {
    keyed: Hmac<Sha256>,
}

impl std::fmt::Debug for PurchaseTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PurchaseTokens").finish_non_exhaustive()
    }
}

impl PurchaseTokens {
    /// Tokens of this secret. It may be a secret with another use, too: what is signed says what it is.
    #[must_use]
    pub fn new(secret: &[u8; 32]) -> Self {
        Self {
            keyed: Hmac::new_from_slice(secret).expect("HMAC takes a key of any length"),
        }
    }

    /// A token that can be used from now on, for a buyer who has met this challenge. `nonce` makes two tokens of one buyer different; any
    /// random number.
    #[must_use]
    pub fn issue(&self, met: Challenge, binding: &Binding<'_>, now: EpochMs, nonce: u64) -> PurchaseToken {
        let expires_at = now.plus(i64::from(LIFETIME_MS));
        let mut bytes = [0_u8; LENGTH];
        bytes[0] = VERSION;
        bytes[MET_AT] = kind_byte(met);
        bytes[EXPIRY_AT..NONCE_AT].copy_from_slice(&expires_at.0.to_be_bytes());
        bytes[NONCE_AT..TAG_AT].copy_from_slice(&nonce.to_be_bytes());
        let tag = self.keyed(&bytes[..TAG_AT], binding).finalize().into_bytes();
        bytes[TAG_AT..].copy_from_slice(&tag);
        PurchaseToken {
            text: URL_SAFE_NO_PAD.encode(bytes),
            expires_at,
        }
    }

    /// Whether `token` was issued for this binding, to a buyer who has met what is asked for now, and can still be used. The signature is
    /// compared in constant time.
    #[must_use]
    pub fn accepts(&self, token: &str, asked: Challenge, binding: &Binding<'_>, now: EpochMs) -> bool {
        // The decoder wants room for whole groups of three bytes.
        let mut bytes = [0_u8; LENGTH + 1];
        if URL_SAFE_NO_PAD.decode_slice(token, &mut bytes) != Ok(LENGTH) || bytes[0] != VERSION {
            return false;
        }
        let expires_at = EpochMs(i64::from_be_bytes(
            bytes[EXPIRY_AT..NONCE_AT].try_into().expect("eight bytes"),
        ));
        let met = Challenge::ALL.into_iter().find(|met| kind_byte(*met) == bytes[MET_AT]);
        let genuine = self
            .keyed(&bytes[..TAG_AT], binding)
            .verify_slice(&bytes[TAG_AT..LENGTH])
            .is_ok();
        genuine && now < expires_at && met.is_some_and(|met| met.covers(asked))
    }

    /// The signature over the token's head and what it is bound to.
    fn keyed(&self, head: &[u8], binding: &Binding<'_>) -> Hmac<Sha256> {
        let mut keyed = self.keyed.clone();
        keyed.update(CONTEXT);
        keyed.update(head);
        bind(&mut keyed, binding);
        keyed
    }
}

/// What something is bound to; lengths stand before texts, so that no two bindings sign alike.
pub(crate) fn bind(keyed: &mut Hmac<Sha256>, binding: &Binding<'_>) {
    keyed.update(&binding.activity.get().to_be_bytes());
    for text in [binding.user.as_str(), binding.device.map_or("", Device::as_str)] {
        keyed.update(&(text.len() as u64).to_be_bytes());
        keyed.update(text.as_bytes());
    }
}

#[cfg(test)]
#[path = "purchase_token_tests.rs"]
mod tests;
