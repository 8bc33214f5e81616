//! `/healthz`: this process answers. `/readyz`: it may be sent buyers. Neither says why not: who may know asks on the admin port.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use http::StatusCode;
use seckill_sale::Code;
use serde_json::json;

use crate::answer::Answer;
use crate::call::Call;

/// Whether the process may be sent buyers. A clone says the same.
#[derive(Debug, Clone, Default)]
pub struct Readiness(Arc<AtomicU8>);

const STARTING: u8 = 0;
const READY: u8 = 1;
const DRAINING: u8 = 2;

impl Readiness {
    /// Everything is in place. A process that drains never gets ready again.
    pub fn set_ready(&self) {
        let _ = self
            .0
            .compare_exchange(STARTING, READY, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// The process is about to end: balancers shall look elsewhere.
    pub fn set_draining(&self) {
        self.0.store(DRAINING, Ordering::SeqCst);
    }

    /// Whether buyers may come.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.load(Ordering::SeqCst) == READY
    }

    /// `starting`, `ready` or `draining`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self.0.load(Ordering::SeqCst) {
            STARTING => "starting",
            READY => "ready",
            _ => "draining",
        }
    }
}

/// The process answers.
pub(crate) async fn healthz() -> Answer {
    Answer::fine(&json!({"state": "alive"}))
}

/// The process may be sent buyers, or not.
pub(crate) async fn readyz(call: Call) -> Answer {
    let readiness = &call.shared().readiness;
    let state = json!({"state": readiness.as_str()});
    if readiness.is_ready() {
        Answer::fine(&state)
    } else {
        Answer::error(Code::Busy)
            .status(StatusCode::SERVICE_UNAVAILABLE)
            .data(&state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draining_process_never_gets_ready_again() {
        let readiness = Readiness::default();
        assert_eq!(readiness.as_str(), "starting");
        readiness.set_ready();
        assert!(readiness.is_ready());
        readiness.set_draining();
        readiness.set_ready();
        assert_eq!(readiness.as_str(), "draining");
    }
}
