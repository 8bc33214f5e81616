//! Nonces of signed requests for which the store is being asked now. Two requests with the same one never ask at the same time: copies of a
//! signed request wait for nothing, and cost the store one look after another at the most.
//!
//! Whether a nonce was used before, here or elsewhere, the store alone knows.

use std::collections::HashSet;

use parking_lot::Mutex;

use crate::call::Call;
use crate::in_flight::UnderWay;

/// As many as purchases are under way at the most.
#[derive(Debug, Default)]
pub(crate) struct Nonces(Mutex<HashSet<[u8; 16]>>);

/// A nonce that nobody else asks for until this is dropped, with the place of its request among the purchases under way.
pub(crate) struct Claimed {
    under_way: UnderWay,
    nonce: [u8; 16],
}

impl Claimed {
    /// None where somebody asks for it already.
    pub(crate) fn begin(under_way: UnderWay, nonce: [u8; 16]) -> Option<Self> {
        let is_first = under_way.0.shared().nonces.0.lock().insert(nonce);
        is_first.then_some(Self { under_way, nonce })
    }

    pub(crate) const fn call(&self) -> &Call {
        &self.under_way.0
    }
}

impl Drop for Claimed {
    fn drop(&mut self) {
        self.call().shared().nonces.0.lock().remove(&self.nonce);
    }
}
