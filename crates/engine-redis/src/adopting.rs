//! Tickets of a lost state, offered to the one that took its place.

use seckill_queue::{Adopted, Adoption};
use seckill_sale::{Delivery, NotReady, TicketState};

use crate::Error;
use crate::buyer::{key_text, state_letter};
use crate::keys::{Place, of_ticket};
use crate::script::ADOPT;
use crate::shared::Shared;
use crate::summary::Summary;
use crate::transfer::Within;

/// Tickets that one call offers: their buyers are read by one command, and Lua bears 8,000 arguments.
const CALL_SIZE_MAX: usize = 500;
/// Says that units are in no other shard: who finds none here has none.
const NOWHERE_ELSE: &[u8] = b"-";
/// How often units of other shards are brought to tickets that found none.
const GATHERINGS_MAX: usize = 8;

impl Shared {
    /// One outcome a ticket, in their order.
    pub(crate) async fn adopt(&self, tickets: &[Delivery], adoption: Adoption) -> Result<Vec<Adopted>, Error> {
        let state = match adoption {
            Adoption::Waiting => "",
            Adoption::Failed(reason) => state_letter(TicketState::Failed(reason)),
        };
        let mut shards: Vec<(Place, Vec<usize>)> = Vec::new();
        let mut nths = Vec::with_capacity(tickets.len());
        for (at, delivery) in tickets.iter().enumerate() {
            let ticket = delivery.ticket;
            let (place, nth) = of_ticket(self.shards(ticket.activity).await?, ticket);
            nths.push(nth);
            match shards.iter_mut().find(|(known, _)| *known == place) {
                Some((_, part)) => part.push(at),
                None => shards.push((place, vec![at])),
            }
        }
        let mut adopted = vec![None; tickets.len()];
        for (place, part) in &shards {
            for part in part.chunks(CALL_SIZE_MAX) {
                let mut arguments = vec![state.as_bytes().to_vec()];
                arguments.extend(part.iter().flat_map(|&at| ticket_arguments(&tickets[at], nths[at])));
                let quantities: Vec<u64> = part.iter().map(|&at| tickets[at].quantity.get()).collect();
                let (summary, letters) = self.offer(*place, arguments, &quantities).await?;
                for (&at, letter) in part.iter().zip(&letters) {
                    let outcome = read(letter).ok_or(Error::OutcomeUnknown)?;
                    self.remembered
                        .answered(*place, &summary.figures, &tickets[at], outcome);
                    adopted[at] = Some(outcome);
                }
                self.remembered.note_created(*place, summary.created_at);
            }
        }
        adopted.into_iter().collect::<Option<_>>().ok_or(Error::OutcomeUnknown)
    }

    /// Offers tickets to their shard; gives what the state says that answers, and a letter for each. Units that other shards have are
    /// brought there before a ticket finds none: a shard of a new build has its share of the units, however many of the old tickets are its own.
    async fn offer(
        &self,
        place: Place,
        arguments: Vec<Vec<u8>>,
        quantities: &[u64],
    ) -> Result<(Summary, Vec<String>), Error> {
        let waits = arguments.first().is_some_and(Vec::is_empty);
        let mut is_last = !place.shards.is_split();
        for _ in 0..GATHERINGS_MAX {
            let mut arguments = arguments.clone();
            if waits && is_last {
                arguments[0] = NOWHERE_ELSE.to_vec();
            }
            let (summary, letters) = self.call(&ADOPT, place, arguments).await?.done()?;
            let without = letters.iter().zip(quantities).filter(|(letter, _)| *letter == "n");
            let wanted: u64 = without.map(|(_, quantity)| quantity).sum();
            if wanted == 0 || is_last {
                return Ok((summary, letters));
            }
            let reading = self.look_exactly(place.activity).await?;
            let reading = reading.ok_or(Error::NotReady(NotReady::NotPreheated))?;
            let own = reading
                .shards
                .get(place.index())
                .map_or(0, |own| own.figures.stock_left);
            if reading.units() == own {
                is_last = true;
                continue;
            }
            self.gather(place, &reading, wanted, Within::Any).await?;
        }
        // Somebody is quicker all the time; they are offered again.
        Err(Error::Unavailable)
    }
}

/// The ticket is the shard's `nth`.
fn ticket_arguments(delivery: &Delivery, nth: u64) -> [Vec<u8>; 7] {
    [
        delivery.user.as_str().to_owned(),
        key_text(delivery.key),
        delivery.quantity.to_string(),
        nth.to_string(),
        delivery.ticket.epoch.to_string(),
        delivery.accepted_at.to_string(),
        delivery.request_id.as_str().to_owned(),
    ]
    .map(String::into_bytes)
}

fn read(letter: &str) -> Option<Adopted> {
    Some(match letter {
        "w" => Adopted::Waits,
        "k" => Adopted::Known,
        "n" => Adopted::NoUnit,
        "v" => Adopted::Void,
        _ => return None,
    })
}
