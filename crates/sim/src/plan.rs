//! One run, from its plan to its outcome.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::auditor::Violation;
use crate::fault::Fault;
use crate::opening;
use crate::random::Random;
use crate::scenario::BEGINS;
use crate::trace::Trace;
use crate::weather::Weather;
use crate::world::World;

/// What is to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Everything follows from it.
    pub seed: u64,
    /// Steps before all heals.
    pub steps: u32,
    /// A fault that is planted.
    pub fault: Option<Fault>,
    /// Lines of the trace that are kept.
    pub lines_max: usize,
}

impl Plan {
    /// Steps of a run where nobody says otherwise.
    pub const STEPS: u32 = 1_500;
    /// Lines that are kept where nobody says otherwise.
    pub const LINES: usize = 60;

    /// The run of a seed.
    #[must_use]
    pub const fn of_seed(seed: u64) -> Self {
        Self {
            seed,
            steps: Self::STEPS,
            fault: None,
            lines_max: Self::LINES,
        }
    }

    /// The same run with a fault planted.
    #[must_use]
    pub const fn with_fault(self, fault: Fault) -> Self {
        Self {
            fault: Some(fault),
            ..self
        }
    }
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The promise that was broken.
    pub violation: Option<Violation>,
    /// The last lines of the trace.
    pub trace: Vec<String>,
    /// A digest of the whole trace: equal for equal plans.
    pub digest: u64,
}

/// Runs a plan to its end, or to the first promise that is seen broken.
#[must_use]
pub fn run(plan: &Plan) -> Outcome {
    let weather = Arc::new(Weather::new(
        Random::new(plan.seed ^ 0x5EED),
        Trace::new(plan.lines_max),
        plan.fault,
        BEGINS,
    ));
    let carried_out = catch_unwind(AssertUnwindSafe(|| {
        let mut world = World::new(plan.seed, weather.clone());
        opening::make_sales(&mut world);
        world.run(plan.steps);
        world.end();
        world.auditor.borrow().violation().cloned()
    }));
    let violation = carried_out.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Some(Violation {
            rule: "the product never panics",
            detail: text.to_owned(),
            step: weather.step(),
        })
    });
    Outcome {
        violation,
        trace: weather.lines(),
        digest: weather.digest(),
    }
}
