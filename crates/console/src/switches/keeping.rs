//! What the store is to keep for the ledger, and what it says that it keeps. Nodes do not write over what they have not seen of each other:
//!
//! ```text
//! wanted              the store has                      becomes
//! switches            as was seen, or nothing            those switches
//!                     others, or a copy of a later row   those switches on top of them
//!                     a copy of another row              those switches
//! a copy of the row   as was seen, or nothing            that copy
//!                     another copy                       the copy of the later row
//!                     others                             the others, which stay
//! none any more       as was seen                        none
//!                     anything else                      that, which stays
//! ```
//!
//! What a later version had it keep, and can't be read here, stays in any case, unless it is a copy of no later row.
//!
//! Whoever has got switches into the ledger leaves a copy of its row in their place, so that a node whose own way to the ledger is cut off hears
//! of them. A store that is empty, or has gone back to an earlier state, has lost what it was seen to keep: whoever has seen that tells it again.
//! Where the ledger has had it meanwhile, and somebody has opened since, that stays open.

use seckill_stock::Error;

use super::foreign::{outlined, stays};
use super::in_force::copy_of_row;
use super::kept::Kept;
use crate::state::Console;

/// Attempts where other nodes have switches kept at the same time.
const ATTEMPTS_MAX: u32 = 5;

/// What this process knows of what the store keeps.
#[derive(Default)]
pub(crate) struct Keeping {
    /// What the store was last seen to keep.
    seen: Option<String>,
    /// What it is to keep.
    wanted: Option<Kept>,
    /// Whether it has not said yet that it does: it has not answered, and is told again.
    is_untold: bool,
    /// Whether that is of this process, and not only seen.
    is_ours: bool,
}

/// Whether something is still kept.
pub(super) enum Stands {
    Yes,
    /// It is not, or others are on top of it by now.
    No,
    /// The store can't be asked.
    Unknown,
}

/// What is kept for the ledger, or to be kept, as far as this process knows. Costs no IO.
pub(super) fn known(console: &Console) -> Option<Kept> {
    wanted(console).filter(|kept| !kept.is_copy)
}

/// The same, or a copy of the ledger's row. Costs no IO.
pub(super) fn wanted(console: &Console) -> Option<Kept> {
    console.keeping.lock().wanted.clone()
}

/// The copy of a row that the store was last seen to keep. Costs no IO.
pub(super) fn seen_copy(console: &Console) -> Option<Kept> {
    let keeping = console.keeping.lock();
    let seen = serde_json::from_str::<Kept>(keeping.seen.as_ref()?).ok();
    seen.filter(|kept| kept.is_copy)
}

/// Whether the store may not know yet what it is to keep. Costs no IO.
pub(super) fn is_untold(console: &Console) -> bool {
    console.keeping.lock().is_untold
}

/// What the store keeps for the ledger, by its own word: it is told first what it was not told yet, or has lost. To be called by one at a time.
pub(super) async fn pending(console: &Console) -> Result<Option<Kept>, Error> {
    if !is_untold(console) {
        let seen = console.stock().kept_switches().await?;
        let kept = read(seen.as_deref());
        let mut keeping = console.keeping.lock();
        let known = keeping.wanted.as_ref().filter(|_| seen.is_none() || kept.is_some());
        let lost = known.and_then(|known| known.lost_by(kept.as_ref(), console.now(), keeping.is_ours));
        keeping.seen = seen;
        if let Some(lost) = lost {
            tracing::error!("the store has lost switches that the ledger may not have; it is told again");
            (keeping.wanted, keeping.is_untold, keeping.is_ours) = (Some(lost), true, true);
        } else {
            keeping.is_ours &= keeping.wanted == kept;
            keeping.wanted = kept;
        }
    }
    if is_untold(console) {
        keep(console, wanted(console)).await?;
    }
    Ok(known(console))
}

/// Whether the store still keeps this. To be called by one at a time.
pub(super) async fn stands(console: &Console, kept: &Kept) -> Stands {
    match pending(console).await {
        Ok(now) if now.as_ref() == Some(kept) => Stands::Yes,
        Ok(_) => Stands::No,
        Err(_) => Stands::Unknown,
    }
}

/// Has the store keep `ours`, on top of what others have had kept for the ledger meanwhile; or nothing, where they have had nothing kept. Where
/// it does not say that it does, it is told again later. To be called by one at a time.
pub(super) async fn keep(console: &Console, mut ours: Option<Kept>) -> Result<(), Error> {
    for _ in 0..ATTEMPTS_MAX {
        let seen = {
            let mut keeping = console.keeping.lock();
            (keeping.wanted, keeping.is_untold, keeping.is_ours) = (ours.clone(), true, true);
            // Where that can't be read, nothing is taken out of the store for it.
            let seen = keeping.seen.clone();
            seen.filter(|seen| read(Some(seen)).is_some() || !stays(seen, ours.as_ref()))
        };
        let text = ours.as_ref().map(text);
        let now = console.stock().keep_switches(seen, text.clone()).await?;
        let mut keeping = console.keeping.lock();
        keeping.seen.clone_from(&now);
        if now == text {
            keeping.is_untold = false;
            return Ok(());
        }
        let theirs = read(now.as_deref());
        if theirs.is_none() && now.as_deref().is_some_and(|now| stays(now, ours.as_ref())) {
            return Err(Error::Unavailable);
        }
        match next(ours.as_ref(), theirs.as_ref()) {
            Next::Ours => {}
            Next::OursOnTop => {
                ours = ours.zip(theirs).map(|(ours, theirs)| ours.onto(&theirs));
            }
            Next::Theirs => {
                (keeping.wanted, keeping.is_untold, keeping.is_ours) = (theirs, false, false);
                return Ok(());
            }
        }
    }
    Err(Error::Unavailable)
}

/// What is to be kept where the store has others than were seen.
enum Next {
    Ours,
    OursOnTop,
    Theirs,
}

fn next(ours: Option<&Kept>, theirs: Option<&Kept>) -> Next {
    match (ours, theirs) {
        (Some(_), None) => Next::Ours,
        (Some(ours), Some(theirs)) if theirs.is_copy && ours.are_as_late_as(theirs) => Next::Ours,
        // A copy of a later row, too: nodes that have not read it know of it by what is kept.
        (Some(ours), Some(_)) if !ours.is_copy => Next::OursOnTop,
        _ => Next::Theirs,
    }
}

/// As [`keep`], where it has time.
async fn keep_or_later(console: &Console, kept: Option<Kept>) {
    let is_news = !is_untold(console);
    // Of an outage it is said once.
    if let Err(error) = keep(console, kept).await
        && is_news
    {
        tracing::warn!(%error, "the store is told again which switches it is to keep");
    }
}

/// Leaves a copy of the ledger's row in the store, unless it has it. What this node has in force is what the row says. To be called by one at a
/// time.
pub(super) async fn publish(console: &Console) {
    let copy = copy_of_row(console);
    let has_it = {
        let keeping = console.keeping.lock();
        let is_unreadable = |seen: &str| keeping.wanted.is_none() && stays(seen, copy.as_ref());
        keeping.seen.as_deref().is_some_and(is_unreadable)
            || match (&keeping.wanted, &copy) {
                (Some(kept), Some(copy)) => kept.is_copy && kept.share_row(copy),
                (kept, copy) => kept.is_none() && copy.is_none(),
            }
    };
    if !has_it || is_untold(console) {
        keep_or_later(console, copy).await;
    }
}

/// Whether the store was last seen to keep something for the ledger that can't be read here. Costs no IO.
pub(super) fn keeps_unreadable(console: &Console) -> bool {
    let keeping = console.keeping.lock();
    let seen = keeping.seen.as_deref().filter(|_| keeping.wanted.is_none());
    seen.is_some_and(|seen| outlined(seen).is_none_or(|theirs| !theirs.is_copy))
}

fn text(kept: &Kept) -> String {
    serde_json::to_string(kept).expect("plain data")
}

fn read(text: Option<&str>) -> Option<Kept> {
    let read = serde_json::from_str(text?);
    read.inspect_err(|error| tracing::error!(%error, "kept switches can't be read"))
        .ok()
}
