//! The share of purchases that is let in.

use std::sync::atomic::{AtomicU64, Ordering};

use seckill_sale::Refusal;

/// Lets a share of requests through, evenly: of any run of requests, to within one or two, the share asked for.
///
/// It counts instead of hashing the user: whoever comes again has another chance, and nobody is shut out for the whole night.
#[derive(Debug, Default)]
pub struct Sieve(AtomicU64);

impl Sieve {
    /// Whether the next request passes.
    ///
    /// # Errors
    /// [`Refusal::Busy`].
    pub fn check(&self, admit_ratio: f64) -> Result<(), Refusal> {
        /// 2⁶⁴ over the golden ratio: its multiples fill the circle most evenly.
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        const CIRCLE: f64 = 18_446_744_073_709_551_616.0;
        if 1.0 <= admit_ratio {
            return Ok(());
        }
        let place = self.0.fetch_add(1, Ordering::Relaxed).wrapping_mul(STEP);
        if (place as f64) < admit_ratio * CIRCLE {
            Ok(())
        } else {
            Err(Refusal::Busy)
        }
    }
}
