//! What waits for its turn here is in force here at once. It may wait for long: for those before it, and for a ledger that stands still. So the
//! other nodes hear of it by the store before it has its turn, and obey it until it was carried out or refused: the store keeps it then, or the
//! ledger has it, or it is over.
//!
//! They write it nowhere. A node that ends before such a change has its turn has answered nobody; the others go on without it after
//! [`seckill_stock::WAITING_MS`].

use super::brakes::Brakes;
use super::in_force::{tighten_by_others, waiting_here};
use crate::state::Console;

/// Tells other nodes what waits for its turn here, and obeys what waits at them besides what waited there before: what waits no more is obeyed
/// until [`super::watch`] has read what the store keeps of it. Gives what waits there; none where the store has not taken it. It waits for
/// nobody who asks the ledger.
pub(super) async fn tell(console: &Console) -> Option<Brakes> {
    let waiting = waiting_here(console);
    let text = (waiting != Brakes::RELEASED).then(|| serde_json::to_string(&waiting).expect("plain data"));
    match console.stock().tell_waiting(&console.live.member.id, text).await {
        Ok(texts) => {
            let of_others = texts.iter().filter_map(|text| read(text));
            let of_others = of_others.fold(Brakes::RELEASED, Brakes::and);
            tighten_by_others(console, |before| before.and(of_others));
            Some(of_others)
        }
        Err(error) => {
            tracing::debug!(%error, "what waits for its turn is not heard of at other nodes");
            None
        }
    }
}

fn read(text: &str) -> Option<Brakes> {
    let read = serde_json::from_str(text);
    read.inspect_err(|error| tracing::error!(%error, "what waits for its turn at another node can't be read"))
        .ok()
}
