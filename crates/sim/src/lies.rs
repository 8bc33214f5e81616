//! What the planted faults make of values on their way to the store.

use seckill_sale::{Buyer, RequestKey, Status, Terms};
use seckill_stock::Rebase;

use crate::fault::Fault;
use crate::weather::Weather;

/// A window that ends later, a pause that does not arrive.
pub(crate) fn terms(mut terms: Terms, weather: &Weather) -> Terms {
    if weather.has(Fault::WindowIgnored) {
        terms.window.ends_at = terms.window.ends_at.plus(3_600_000);
    }
    if weather.has(Fault::PauseIgnored) && terms.status == Status::Paused {
        terms.status = Status::Running;
    }
    terms
}

/// One of the tickets that a recovery queues again is forgotten.
pub(crate) fn rebase(mut rebase: Rebase, weather: &Weather) -> Rebase {
    if !rebase.requeue.is_empty() && weather.has(Fault::RequeueLost) {
        rebase.requeue.pop();
    }
    rebase
}

/// The store names another key than the one under which the buyer has bought.
pub(crate) fn buyer(buyer: &mut Option<Buyer>, weather: &Weather) {
    if let Some(buyer) = buyer
        && weather.strikes(Fault::KeyBlurred, 2)
    {
        buyer.key = RequestKey([0xEE; 16]);
    }
}
