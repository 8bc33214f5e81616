//! Purchases under way on one core: those that wait for their body, or for the store; signed requests until their signature is checked, and
//! answers to challenges, count with them. Past their number whoever comes hears at once that it is
//! too busy, before his token is looked at.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use seckill_metrics::ShedReason;
use seckill_sale::Refusal;

use crate::call::Call;

/// How many there are. Written by its own core alone, so it stands on cache lines that no other writes.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct InFlight(AtomicUsize);

/// A purchase that is under way until this is dropped.
pub(crate) struct UnderWay(pub(crate) Call);

impl UnderWay {
    pub(crate) fn begin(call: Call) -> Self {
        call.core.in_flight.0.fetch_add(1, Relaxed);
        Self(call)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.core.in_flight.0.fetch_sub(1, Relaxed);
    }
}

impl Call {
    /// Whether one more purchase may be under way besides those there are; `mine` of them are the caller's own.
    ///
    /// # Errors
    /// [`Refusal::Busy`].
    pub(crate) fn check_in_flight(&self, mine: usize) -> Result<(), Refusal> {
        if self.core.in_flight.0.load(Relaxed) < self.shared().settings.in_flight_max + mine {
            return Ok(());
        }
        self.shared().metrics.shed.inc(self.core.index, ShedReason::InFlight);
        Err(Refusal::Busy)
    }
}
