//! Verdicts as `record.lua` expects them.

use seckill_queue::Verdict;
use seckill_sale::{Conclusion, FailureReason, TicketState, UnitTo};

use crate::buyer::state_letter;

/// Which ticket of its shard, verdict and its two words.
pub(crate) fn arguments(nth: u64, verdict: &Verdict) -> [Vec<u8>; 4] {
    let (name, first, second) = match verdict {
        Verdict::Conclude(Conclusion::Succeeded) => (
            "conclude",
            state_letter(TicketState::Succeeded).to_owned(),
            String::new(),
        ),
        Verdict::Conclude(Conclusion::Failed { reason, unit_to }) => {
            ("conclude", failed_letter(*reason), unit_word(*unit_to))
        }
        Verdict::Retry { attempts, not_before } => ("retry", attempts.to_string(), not_before.to_string()),
        Verdict::GiveBack { not_before } => ("give", String::new(), not_before.to_string()),
        Verdict::Bury { reason } => ("bury", reason.clone(), String::new()),
    };
    [nth.to_string(), name.to_owned(), first, second].map(String::into_bytes)
}

fn failed_letter(reason: FailureReason) -> String {
    state_letter(TicketState::Failed(reason)).to_owned()
}

fn unit_word(unit_to: Option<UnitTo>) -> String {
    let to_sale = unit_to == Some(UnitTo::Sale);
    if to_sale { "sale" } else { "" }.to_owned()
}
