//! What the store is to keep for the ledger, and what it says that it keeps. Nodes do not write over what they have not seen of each other:
//!
//! ```text
//! wanted          the store has   becomes
//! switches        as was seen     those switches
//!                 others          those switches on top of the others
//! none any more   as was seen     none
//!                 others          the others, which stay
//! ```
//!
//! A store that loses what this process had it keep (it was emptied) is told again, unless the ledger has got it meanwhile: whoever wrote it
//! there has changed the row on which it stands.

use seckill_stock::Error;

use super::kept::Kept;
use super::reading::stored;
use crate::error::Error as Refused;
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
    /// What this process had it keep, and it keeps no more without a word of ours.
    gone: Option<Kept>,
}

/// Whether something is still kept.
pub(super) enum Stands {
    Yes,
    /// It is not, or others are on top of it by now.
    No,
    /// The store can't be asked.
    Unknown,
}

/// What is kept, or to be kept, as far as this process knows. Costs no IO.
pub(super) fn known(console: &Console) -> Option<Kept> {
    let keeping = console.keeping.lock();
    keeping.wanted.clone().or_else(|| keeping.gone.clone())
}

/// Whether the store may not know yet what it is to keep. Costs no IO.
pub(super) fn is_untold(console: &Console) -> bool {
    console.keeping.lock().is_untold
}

/// What the store keeps, by its own word: it is told first what it was not told yet. To be called by one at a time.
async fn confirmed(console: &Console) -> Result<Option<Kept>, Error> {
    if is_untold(console) {
        keep(console, known(console)).await?;
        return Ok(known(console));
    }
    let seen = console.stock().kept_switches().await?;
    let wanted = read(seen.as_deref());
    let mut keeping = console.keeping.lock();
    if keeping.wanted != wanted {
        let before = std::mem::replace(&mut keeping.wanted, wanted.clone());
        let was_ours = std::mem::take(&mut keeping.is_ours);
        if wanted.is_none() && was_ours {
            keeping.gone = before;
        }
    }
    keeping.seen = seen;
    Ok(wanted)
}

/// The same, with what the store has lost. To be called by one at a time.
///
/// # Errors
/// Where the store can't be asked, or, about something that it has lost, the ledger.
pub(super) async fn pending(console: &Console) -> Result<Option<Kept>, Refused> {
    let kept = confirmed(console).await?;
    let gone = console.keeping.lock().gone.clone();
    let Some(gone) = gone else { return Ok(kept) };
    let is_lost = gone.stand_on(&stored(console).await?);
    console.keeping.lock().gone = None;
    if is_lost {
        tracing::warn!("the store has lost switches that the ledger has not got yet; it is told again");
        let again = kept.map_or_else(|| gone.clone(), |others| gone.onto(&others));
        keep(console, Some(again)).await?;
    }
    Ok(known(console))
}

/// Whether the store still keeps this. To be called by one at a time.
pub(super) async fn stands(console: &Console, kept: &Kept) -> Stands {
    match confirmed(console).await {
        Ok(now) if now.as_ref() == Some(kept) => Stands::Yes,
        Ok(_) => Stands::No,
        Err(_) => Stands::Unknown,
    }
}

/// Has the store keep `wanted`, or nothing, and gives what others have had kept meanwhile: it is under what is kept now, or all that is. The
/// store is told as soon as this is polled. Where it does not say that it does, it is told again later. To be called by one at a time.
pub(super) async fn keep(console: &Console, mut wanted: Option<Kept>) -> Result<Option<Kept>, Error> {
    let mut of_others = None;
    for _ in 0..ATTEMPTS_MAX {
        let seen = {
            let mut keeping = console.keeping.lock();
            *keeping = Keeping {
                seen: keeping.seen.take(),
                wanted: wanted.clone(),
                is_untold: true,
                is_ours: true,
                gone: None,
            };
            keeping.seen.clone()
        };
        let text = wanted.as_ref().map(text);
        let now = console.stock().keep_switches(seen, text.clone()).await?;
        let mut keeping = console.keeping.lock();
        keeping.seen.clone_from(&now);
        if now == text {
            keeping.is_untold = false;
            return Ok(of_others);
        }
        of_others = read(now.as_deref());
        let Some(ours) = wanted else {
            (keeping.wanted, keeping.is_untold, keeping.is_ours) = (of_others.clone(), false, false);
            return Ok(of_others);
        };
        wanted = Some(
            of_others
                .as_ref()
                .map_or_else(|| ours.clone(), |theirs| ours.onto(theirs)),
        );
    }
    Err(Error::Unavailable)
}

/// As [`keep`], where it has time.
pub(super) async fn keep_or_later(console: &Console, kept: Option<Kept>) {
    if let Err(error) = keep(console, kept).await {
        tracing::warn!(%error, "the store is told again which switches it is to keep");
    }
}

fn text(kept: &Kept) -> String {
    serde_json::to_string(kept).expect("plain data")
}

fn read(text: Option<&str>) -> Option<Kept> {
    let read = serde_json::from_str::<Kept>(text?);
    read.inspect_err(|error| tracing::error!(%error, "kept switches can't be read; they are left alone"))
        .ok()
}
