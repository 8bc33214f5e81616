//! The key that makes an operator's write idempotent, and how he hears that it came before.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Key and digest of an operator's write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// The key, 1 to 64 characters.
    pub key: String,
    /// Digest of route and body.
    pub digest: [u8; 16],
    /// Where the ledger says that it had carried out the request before.
    pub replayed: Replayed,
}

/// Told by the ledger to whoever asks: the request was carried out before, and nothing was done again. Clones are told together.
#[derive(Debug, Clone, Default)]
pub struct Replayed(Arc<AtomicBool>);

impl Replayed {
    /// Tells.
    pub fn tell(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was told.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// An answer, not a part of what is asked: two requests are equal whatever they were told.
impl PartialEq for Replayed {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Replayed {}
