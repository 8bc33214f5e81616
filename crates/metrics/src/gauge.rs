//! A number that goes up and down and is set as a whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::page::Page;
use crate::registry::Collect;

/// A number that is set; 0 at first. A clone is the same number.
#[derive(Clone, Debug, Default)]
pub struct Gauge {
    bits: Arc<AtomicU64>,
}

impl Gauge {
    /// Sets it.
    pub fn set(&self, value: f64) {
        self.bits.store(value.to_bits(), Relaxed);
    }

    /// Sets it to a count. Above 2⁵³ it is rounded.
    pub fn set_count(&self, value: u64) {
        self.set(value as f64);
    }

    /// Sets it to 1 for true and 0 for false.
    pub fn set_flag(&self, value: bool) {
        self.set(f64::from(u8::from(value)));
    }

    /// What it was set to.
    #[must_use]
    pub fn value(&self) -> f64 {
        f64::from_bits(self.bits.load(Relaxed))
    }
}

impl Collect for Gauge {
    fn collect(&self, name: &str, page: &mut Page) {
        page.real(name, &[], self.value());
    }
}
