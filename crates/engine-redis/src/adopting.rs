//! Tickets of a lost state, offered to the one that took its place.

use seckill_queue::{Adopted, Adoption};
use seckill_sale::{Delivery, TicketState};

use crate::Error;
use crate::buyer::{key_text, state_letter};
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
        let mut adopted = Vec::with_capacity(tickets.len());
        for part in tickets.chunks(CALL_SIZE_MAX) {
            let mut arguments = vec![state.as_bytes().to_vec()];
            arguments.extend(part.iter().flat_map(ticket_arguments));
            let answer = self.call(&ADOPT, part[0].ticket.activity, arguments).await?;
            let (_, letters) = answer.done()?;
            adopted.extend(letters.iter().filter_map(|letter| read(letter)));
        }
        if adopted.len() == tickets.len() {
            Ok(adopted)
        } else {
            Err(Error::OutcomeUnknown)
        }
    }
}

fn ticket_arguments(delivery: &Delivery) -> [Vec<u8>; 7] {
    [
        delivery.user.as_str().to_owned(),
        key_text(delivery.key),
        delivery.quantity.to_string(),
        delivery.ticket.sequence.to_string(),
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
