//! Claims and their answers as `claim.lua` reads and writes them.

use seckill_sale::{Claim, EpochMs, Refusal, Ticket};
use seckill_stock::{Answer, Reserved};

use crate::buyer::{key_text, read_buyer};
use crate::keys::Place;
use crate::summary::Summary;

/// What `claim.lua` is told: the room in the queue, the number of claims, the users of all, then three texts a claim.
pub(crate) fn arguments(room: u64, claims: &[&Claim]) -> Vec<Vec<u8>> {
    let mut arguments = Vec::with_capacity(2 + 4 * claims.len());
    arguments.push(room.to_string().into_bytes());
    arguments.push(claims.len().to_string().into_bytes());
    arguments.extend(claims.iter().map(|claim| claim.user.as_str().as_bytes().to_vec()));
    for claim in claims {
        let (user, key, quantity) = (&claim.user, key_text(claim.key), claim.quantity);
        arguments.push(quantity.to_string().into_bytes());
        arguments.push(format!("{key} {quantity} ").into_bytes());
        arguments.push(format!("{user} {quantity} {key} {}", claim.request_id).into_bytes());
    }
    arguments
}

/// The payload of `claim.lua`.
pub(crate) struct Payload {
    /// Which ticket of the shard the first who is admitted has; the next one's is the next.
    pub(crate) first: u64,
    /// One a claim.
    pub(crate) texts: Vec<String>,
}

impl Payload {
    /// Reads it for so many claims.
    pub(crate) fn read(mut texts: Vec<String>, claims: usize) -> Option<Self> {
        if texts.len() != 1 + claims {
            return None;
        }
        let first = texts.remove(0).parse().ok()?;
        Some(Self { first, texts })
    }
}

/// Reads one text of the payload; `next` is the ticket of the next who is admitted. What is not one of ours is unknown.
pub(crate) fn read_answer(
    place: Place,
    claim: &Claim,
    text: &str,
    next: &mut u64,
    now: EpochMs,
    summary: &Summary,
) -> Answer {
    let unknown = Refusal::OutcomeUnknown;
    let (Some(kind), Some(rest)) = (text.get(..1), text.get(1..)) else {
        return Err(unknown);
    };
    let buyer = || read_buyer(place, claim.user.clone(), rest);
    match kind {
        "+" => {
            *next += 1;
            let ticket = Ticket {
                activity: claim.activity,
                epoch: summary.figures.epoch,
                sequence: place.sequence(*next - 1),
            };
            Ok(Reserved {
                ticket,
                accepted_at: now,
                replayed: false,
            })
        }
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
