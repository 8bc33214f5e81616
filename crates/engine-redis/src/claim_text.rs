//! Claims and their answers as `claim.lua` reads and writes them.

use std::io::Write as _;

use seckill_sale::{Claim, EpochMs, Refusal, Ticket};
use seckill_stock::{Answer, Reserved};

use crate::buyer::{key_text, read_buyer};
use crate::keys::Place;
use crate::summary::Summary;

/// What `claim.lua` is told: the room in the queue, the number of claims, the quantity of all where it is the same, the users of all, the
/// beginnings of their records, and one text with their lines of the stream's entry.
pub(crate) fn arguments(room: u64, claims: &[&Claim]) -> Vec<Vec<u8>> {
    let mut arguments = Vec::with_capacity(4 + 2 * claims.len());
    let same = claims.first().map(|claim| claim.quantity);
    let same = same.filter(|same| claims.iter().all(|claim| claim.quantity == *same));
    arguments.push(room.to_string().into_bytes());
    arguments.push(claims.len().to_string().into_bytes());
    arguments.push(same.map_or(Vec::new(), |quantity| quantity.to_string().into_bytes()));
    arguments.extend(claims.iter().map(|claim| claim.user.as_str().as_bytes().to_vec()));
    let mut lines = Vec::with_capacity(claims.len() * LINE_LENGTH);
    for claim in claims {
        let (user, key, quantity) = (&claim.user, key_text(claim.key), claim.quantity);
        arguments.push(format!("{key} {quantity} ").into_bytes());
        if !lines.is_empty() {
            lines.push(b'\n');
        }
        write!(lines, "{user} {quantity} {key} {}", claim.request_id).expect("memory takes what is written");
    }
    arguments.push(lines);
    arguments
}

/// Of a usual line: a user, a key, a request id.
const LINE_LENGTH: usize = 80;

/// The payload of `claim.lua`.
pub(crate) struct Payload {
    /// Which ticket of the shard the first who is admitted has; the next one's is the next.
    pub(crate) first: u64,
    /// A line a claim.
    lines: String,
}

impl Payload {
    /// Reads it for so many claims.
    pub(crate) fn read(texts: Vec<String>, claims: usize) -> Option<Self> {
        let [first, lines] = <[String; 2]>::try_from(texts).ok()?;
        let first = first.parse().ok()?;
        (lines.split('\n').count() == claims).then_some(Self { first, lines })
    }

    /// What is said to each claim, in order.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.split('\n')
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
