//! What becomes of buyers whose shard is empty: units are pulled from other shards, and "sold out" is said only where it is proved of all.
//!
//! ```text
//! shard is empty ──▶ read all shards ──two readings prove that there are fewer units than he wants──▶ sold out
//!       ▲                  └──▶ pull units from others, ask the shard again
//!       └──somebody else was quicker: [`PULLS_MAX`] times at the most, then busy──┘
//! ```

use seckill_sale::{Claim, Refusal};
use seckill_stock::Answer;

use crate::Error;
use crate::keys::Place;
use crate::reading::Reading;
use crate::shared::Shared;
use crate::transfer::Within;

/// How often units are pulled in vain.
const PULLS_MAX: usize = 3;
/// How often they are pulled at all for the buyers of one call, while somebody gets some.
const ROUNDS_MAX: usize = 16;

impl Shared {
    /// Sells to those of a call whose shard had nothing left, or proves that nothing is left for them.
    pub(crate) async fn sell_elsewhere(&self, place: Place, claims: &[&Claim], answers: &mut [Answer]) {
        let mut waiting: Vec<usize> = (0..claims.len())
            .filter(|&at| answers[at] == Err(Refusal::SoldOut))
            .collect();
        let mut in_vain = 0;
        for _ in 0..ROUNDS_MAX {
            let quantity = |&at: &usize| claims[at].quantity.get();
            // What was told of a shard, and is not read yet, may be a unit that came back.
            let has_sold_out = self.hears_nothing_of(place.activity, place.shards)
                && self.with_sale(place.activity, |sale| sale.is_some_and(|sale| sale.has_sold_out()));
            if waiting.is_empty() || has_sold_out {
                return;
            }
            let most = waiting.iter().map(quantity).max().unwrap_or(0);
            let proved = match self.prove(place, most).await {
                Ok(proved) => proved,
                Err(error) => return refuse(&waiting, answers, error),
            };
            // Whoever wants more than there can be has his answer already.
            waiting.retain(|at| proved.bound.is_none_or(|bound| quantity(at) <= bound));
            if waiting.is_empty() {
                return;
            }
            let wanted = waiting.iter().map(quantity).sum();
            let gathered = self.gather(place, &proved.reading, wanted, Within::Open).await;
            if let Err(error) = gathered {
                return refuse(&waiting, answers, error);
            }
            let again: Vec<_> = waiting.iter().map(|&at| claims[at]).collect();
            for (&at, answer) in waiting.iter().zip(self.decide(place, &again).await) {
                answers[at] = answer;
            }
            let before = waiting.len();
            waiting.retain(|&at| answers[at] == Err(Refusal::SoldOut));
            in_vain = if waiting.len() < before { 0 } else { in_vain + 1 };
            if in_vain == PULLS_MAX {
                break;
            }
        }
        for at in waiting {
            answers[at] = Err(Refusal::Busy);
        }
    }

    /// Reads all shards, and once more where the first reading may be proof that there are fewer than `quantity`.
    async fn prove(&self, place: Place, quantity: u64) -> Result<Proved, Error> {
        let reading = self.read(place).await?;
        let few = reading.units() < quantity;
        let bound = self.compare(place.activity, reading.clone());
        if bound.is_some_and(|bound| bound < quantity) || !few {
            return Ok(Proved { reading, bound });
        }
        let again = self.read(place).await?;
        let bound = again.bound_since(&reading);
        self.compare(place.activity, again.clone());
        Ok(Proved { reading: again, bound })
    }

    /// Units that are on their way are brought there first: who sent them may be gone.
    async fn read(&self, place: Place) -> Result<Reading, Error> {
        let mut reading = self.look(place.activity).await?;
        if let Some(seen) = reading.as_ref().filter(|seen| 0 < seen.units_out()) {
            self.finish_all(place.activity, seen).await?;
            reading = self.look(place.activity).await?;
        }
        reading
            .filter(|reading| reading.shards.len() as u64 == place.shards.get())
            .ok_or(Error::Unavailable)
    }
}

struct Proved {
    reading: Reading,
    /// Units that there were at the most a moment ago, where that is proved.
    bound: Option<u64>,
}

/// Nothing was taken for them. An answer that was lost on the way to units is no lost admission.
fn refuse(waiting: &[usize], answers: &mut [Answer], error: Error) {
    let refusal = match error {
        Error::NotReady(reason) => Refusal::NotReady(reason),
        Error::Unavailable | Error::OutcomeUnknown => Refusal::Busy,
    };
    for &at in waiting {
        answers[at] = Err(refusal.clone());
    }
}
