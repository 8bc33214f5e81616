//! Claims and their answers as `claim.lua` reads and writes them.

use seckill_sale::{Claim, EpochMs, Refusal, Ticket};
use seckill_stock::{Answer, Reserved};

use crate::buyer::{key_text, read_buyer};
use crate::keys::Place;
use crate::summary::Summary;

/// What `claim.lua` is told: the room in the queue, then four texts a claim.
pub(crate) fn arguments(room: u64, claims: &[&Claim]) -> Vec<Vec<u8>> {
    let mut arguments = Vec::with_capacity(1 + 4 * claims.len());
    arguments.push(room.to_string().into_bytes());
    for claim in claims {
        arguments.push(claim.user.as_str().as_bytes().to_vec());
        arguments.push(key_text(claim.key).into_bytes());
        arguments.push(claim.quantity.to_string().into_bytes());
        arguments.push(claim.request_id.as_str().as_bytes().to_vec());
    }
    arguments
}

/// Reads one text of the payload of `claim.lua`. What is not one of ours is unknown.
pub(crate) fn read_answer(place: Place, claim: &Claim, text: &str, now: EpochMs, summary: &Summary) -> Answer {
    let unknown = Refusal::OutcomeUnknown;
    let (Some(kind), Some(rest)) = (text.get(..1), text.get(1..)) else {
        return Err(unknown);
    };
    let buyer = || read_buyer(place, claim.user.clone(), rest);
    match kind {
        "+" => Ok(Reserved {
            ticket: Ticket {
                activity: claim.activity,
                epoch: summary.figures.epoch,
                sequence: place.sequence(rest.parse().map_err(|_| unknown)?),
            },
            accepted_at: now,
            replayed: false,
        }),
        "=" => buyer().ok_or(unknown).map(|buyer| Reserved {
            ticket: buyer.ticket,
            accepted_at: buyer.accepted_at,
            replayed: true,
        }),
        "t" => Err(buyer().map_or(unknown, |buyer| Refusal::AlreadyTook(Box::new(buyer)))),
        "k" => Err(Refusal::KeyReused),
        "p" => Err(Refusal::Paused {
            resumes_at: rest.parse().ok().map(EpochMs),
        }),
        "n" => Err(Refusal::NotStarted {
            starts_at: summary.starts_at,
        }),
        "e" => Err(Refusal::Ended),
        "l" => Err(Refusal::QuantityAboveLimit),
        "s" => Err(Refusal::SoldOut),
        "b" => Err(Refusal::BacklogFull),
        _ => Err(unknown),
    }
}
