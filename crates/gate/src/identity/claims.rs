//! What a token says, and what of it must hold. The same rules for every algorithm; the signature is checked elsewhere.

use seckill_sale::{EpochMs, UserId};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::identity::{Expectations, Identity};

/// What is read of a token. Integers only: a text or a fraction in `exp` is an error, not an absent claim. Doubled claims are errors, too.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Claims {
    sub: UserId,
    exp: i64,
    #[serde(default)]
    nbf: Option<i64>,
    #[serde(default)]
    aud: Names,
    #[serde(default)]
    iss: Names,
}

/// One name or several. Whatever is neither names nobody: it matters only where a name is expected.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
    Other(IgnoredAny),
    #[default]
    None,
}

impl Names {
    fn include(&self, expected: &str) -> bool {
        match self {
            Self::One(name) => name == expected,
            Self::Several(names) => names.iter().any(|name| name == expected),
            Self::Other(_) | Self::None => false,
        }
    }
}

impl Claims {
    /// Whose token this is, where it counts at `now`.
    pub(crate) fn identity(self, expected: &Expectations, now: EpochMs) -> Option<Identity> {
        let leeway_ms = i64::from(expected.leeway_s) * 1000;
        let begins_at = self
            .nbf
            .map(|seconds| EpochMs(seconds.saturating_mul(1000)).plus(-leeway_ms));
        let named = |expected: &Option<String>, names: &Names| expected.as_ref().is_none_or(|name| names.include(name));
        let identity = Identity {
            user: self.sub,
            expires_at: EpochMs(self.exp.saturating_mul(1000)).plus(leeway_ms),
            level: None,
        };
        let fine = begins_at.is_none_or(|begins_at| begins_at <= now)
            && identity.is_live_at(now)
            && named(&expected.audience, &self.aud)
            && named(&expected.issuer, &self.iss);
        fine.then_some(identity)
    }
}
