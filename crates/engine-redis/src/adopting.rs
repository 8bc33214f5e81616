//! Tickets of a lost state, offered to the one that took its place.

use seckill_queue::{Adopted, Adoption};
use seckill_sale::{Delivery, TicketState};

use crate::Error;
use crate::buyer::{key_text, state_letter};
use crate::keys::{Place, of_ticket};
use crate::script::ADOPT;
use crate::shared::Shared;

/// Tickets that one call offers: their buyers are read by one command, and Lua bears 8,000 arguments.
const CALL_SIZE_MAX: usize = 500;

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
                let (_, letters) = self.call(&ADOPT, *place, arguments).await?.done()?;
                for (&at, letter) in part.iter().zip(&letters) {
                    adopted[at] = read(letter);
                }
            }
        }
        adopted.into_iter().collect::<Option<_>>().ok_or(Error::OutcomeUnknown)
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
