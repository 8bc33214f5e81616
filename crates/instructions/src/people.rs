//! Scattered people: ids of 17 bytes that tell nothing of their order, the same in every run.

use seckill_sale::{ActivityId, Claim, EpochMs, Quantity, RequestId, RequestKey, UserId, Window};

/// When every sale here begins.
pub(crate) const STARTS_AT: EpochMs = EpochMs(1_800_000_000_000);

/// A second into every sale.
pub(crate) const NOW: EpochMs = EpochMs(1_800_000_001_000);

/// The window of every sale here: an hour.
pub(crate) const WINDOW: Window = Window {
    starts_at: STARTS_AT,
    ends_at: EpochMs(1_800_003_600_000),
};

/// The `n`-th of the scattered numbers; no two are equal.
pub(crate) const fn scattered(n: u64) -> u64 {
    // The finalizer of splitmix64, a bijection.
    let z = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The `n`-th user.
pub(crate) fn user(n: u64) -> UserId {
    UserId::new(&format!("u{:016x}", scattered(n))).expect("letters and digits make a user id")
}

/// Something like the digest of a request key.
pub(crate) fn key(n: u64) -> RequestKey {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&scattered(n).to_le_bytes());
    bytes[8..].copy_from_slice(&scattered(!n).to_le_bytes());
    RequestKey(bytes)
}

/// The `n`-th sale, counted from 0.
pub(crate) fn activity(n: usize) -> ActivityId {
    ActivityId::new(n as u64 + 1).expect("small numbers are activity ids")
}

/// One unit for the `n`-th user.
pub(crate) fn claim(activity: ActivityId, n: u64) -> Claim {
    Claim {
        activity,
        user: user(n),
        key: key(n),
        quantity: Quantity::ONE,
        request_id: RequestId::from_bits(scattered(n)),
    }
}
