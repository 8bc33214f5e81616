//! Looking at the store alone, which other nodes have told of a shut.

use super::foreign::outlined;
use super::in_force::{came_after_row, tighten_by, tighten_by_others};
use super::kept::Kept;
use super::reading::as_far_as_known;
use super::telling::tell;
use crate::state::Console;

/// Looks at the store alone, and lets no more buyers in than what waits at other nodes, nor than what it keeps says, where that came after
/// what this node knows. Costs no question to the ledger, and waits for nobody who asks it.
pub(crate) async fn watch(console: &Console) {
    // First: what waits no more is kept by now, or in the ledger, whose copy is kept.
    let waiting = tell(console).await;
    let Ok(seen) = console.stock().kept_switches().await else {
        return;
    };
    let kept = seen.and_then(|seen| outlined(&seen));
    let is_news = |kept: &Kept| !kept.is_copy || came_after_row(console, kept);
    let later = kept
        .filter(is_news)
        .map(|kept| (kept.base(), as_far_as_known(console, &kept)));
    tighten_by(console, later);
    if let Some(waiting) = waiting {
        tighten_by_others(console, |_| waiting);
    }
}
