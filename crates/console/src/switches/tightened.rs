//! What of a change lets fewer buyers in.

use seckill_gate::{AutoAdmit, Limits, Members, Switches};
use seckill_sale::Challenge;

/// `present` with each member of `wanted` that lets fewer buyers in; `settings` are the limits where no switch says otherwise. What is `named`
/// goes back as is wanted: else it could be let go while the wish that it stays waits for its turn.
pub(super) fn tightened(
    present: &Switches,
    wanted: &Switches,
    named: &Members,
    settings: Limits,
    used: &[Challenge],
) -> Switches {
    let is_harder = match (present.challenge, wanted.challenge) {
        // Whatever a sale asks for is at least nothing.
        (Some(Challenge::None), wanted) => wanted != Some(Challenge::None),
        (Some(present), Some(wanted)) => wanted.covers(present),
        // For every sale, or it lets buyers in somewhere.
        (None, Some(wanted)) => wanted != Challenge::None && used.iter().all(|of_sale| wanted.covers(*of_sale)),
        (_, None) => false,
    };
    let challenge = if is_harder { wanted.challenge } else { present.challenge };
    Switches {
        entry_open: present.entry_open && wanted.entry_open,
        read_only: present.read_only || wanted.read_only,
        admit_ratio: present.admit_ratio.min(wanted.admit_ratio),
        backlog_max: present.backlog_max.min(wanted.backlog_max),
        backlog_resume_at: if wanted.backlog_resume() < present.backlog_resume() {
            wanted.backlog_resume_at
        } else {
            present.backlog_resume_at
        },
        backlog_oldest_max_s: shorter(present.backlog_oldest_max_s, wanted.backlog_oldest_max_s),
        auto_admit: quicker(present.auto_admit, wanted.auto_admit),
        challenge,
        limits: present.limits.narrowed(wanted.limits, settings),
        ..present.clone()
    }
    .with_returns_of(wanted, named)
}

/// The shorter of two waits, in seconds; 0 is for ever.
const fn shorter(one: u64, other: u64) -> u64 {
    match (one, other) {
        (0, wait) | (wait, 0) => wait,
        (one, other) if one < other => one,
        (_, other) => other,
    }
}

/// What lowers the share earlier and raises it later.
fn quicker(one: AutoAdmit, other: AutoAdmit) -> AutoAdmit {
    match (one, other) {
        (AutoAdmit::Off, on) | (on, AutoAdmit::Off) => on,
        (
            AutoAdmit::On { store_p99_ms, step },
            AutoAdmit::On {
                store_p99_ms: other_ms,
                step: other_step,
            },
        ) => AutoAdmit::On {
            store_p99_ms: store_p99_ms.min(other_ms),
            step: step.min(other_step),
        },
    }
}
