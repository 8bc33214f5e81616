//! The verifier in force, and the tokens that it has verified lately.

use std::sync::Arc;

use arc_swap::ArcSwap;
use seckill_sale::{EpochMs, Refusal};

use crate::identity::token_cache::TokenCache;
use crate::identity::{Identity, Verifier};

/// A verifier and what it verified lately. They are exchanged together, so that no token outlives the key that vouched for it.
#[derive(Debug)]
struct Keyed {
    verifier: Verifier,
    cache: TokenCache,
}

/// The verifier in force, with its cache of verified tokens.
#[derive(Debug)]
pub struct Verifiers {
    keyed: ArcSwap<Keyed>,
    cache_entries: usize,
}

impl Verifiers {
    /// Begins with `verifier`, and keeps at most `cache_entries` verified tokens.
    #[must_use]
    pub fn new(verifier: Verifier, cache_entries: usize) -> Self {
        let keyed = Keyed {
            verifier,
            cache: TokenCache::new(cache_entries),
        };
        Self {
            keyed: ArcSwap::from_pointee(keyed),
            cache_entries,
        }
    }

    /// Changes the key. Tokens of the old one are refused from the next request on.
    pub fn replace(&self, verifier: Verifier) {
        self.keyed.store(Arc::new(Keyed {
            verifier,
            cache: TokenCache::new(self.cache_entries),
        }));
    }

    /// Whether tokens can say the user's level.
    #[must_use]
    pub fn tell_levels(&self) -> bool {
        self.keyed.load().verifier.tells_levels()
    }

    /// Keys that count now.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.keyed.load().verifier.keys()
    }

    /// Whose token this is: from the cache, or else by its signature. Failures are not remembered.
    ///
    /// # Errors
    /// [`Refusal::Unauthenticated`].
    pub fn verify(&self, token: impl AsRef<[u8]>, now: EpochMs) -> Result<Identity, Refusal> {
        let token = token.as_ref();
        let keyed = self.keyed.load();
        if let Some(identity) = keyed.cache.get(token, now) {
            return Ok(identity);
        }
        let text = str::from_utf8(token).map_err(|_| Refusal::Unauthenticated)?;
        let identity = keyed.verifier.verify(text, now)?;
        keyed.cache.put(token, identity.clone(), now);
        Ok(identity)
    }
}
