//! How the operator's procedures go, from the settings.

use seckill_flow::{DeadLettersAfterEnd, OperatorSettings};
use seckill_ledger::UnitsOnCancel;
use seckill_settings::{AfterEnd, OnCancel, Settings};

use super::node::millis;

/// What the settings say of cancelled orders and dead letters.
pub(super) fn of(settings: &Settings) -> OperatorSettings {
    OperatorSettings {
        units_on_cancel: units_on_cancel(settings),
        dead_letters_after_end: match settings.dead_letters.after_end {
            AfterEnd::Keep => DeadLettersAfterEnd::Keep,
            AfterEnd::DiscardAfter(after) => DeadLettersAfterEnd::DiscardAfter { wait_ms: millis(after) },
        },
    }
}

/// Where units of cancelled orders go.
fn units_on_cancel(settings: &Settings) -> UnitsOnCancel {
    match settings.units.on_cancel {
        OnCancel::Product => UnitsOnCancel::Product,
        OnCancel::Sale => UnitsOnCancel::Sale,
    }
}
