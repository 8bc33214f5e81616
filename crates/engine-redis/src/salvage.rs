//! Reads what is left of a state that was given up: each key that has still its type, each entry that can still be read.
//!
//! Buyers are named twice, by the hash and by their tickets, so that either can be lost. What neither can tell is with the ledger, or lost.

use std::collections::HashMap;

use redis::cmd;
use seckill_sale::{Buyer, Delivery, Restored, TicketState, UserId};

use crate::Error;
use crate::buyer::{read_buyer, read_dead, read_delivery};
use crate::keys::Place;
use crate::shared::Shared;
use crate::walk::Walk;

/// Entries that one command reads.
const STEP_SIZE: usize = 1_000;

/// Everybody found so far.
#[derive(Default)]
struct Found(HashMap<UserId, Restored>);

type Bytes = Vec<u8>;

impl Shared {
    /// What lies aside of a shard.
    pub(crate) async fn salvage(&self, place: Place) -> Result<Vec<Restored>, Error> {
        let aside = place.keys().map(|key| crate::keys::aside(&key));
        self.read_all(place, &aside).await
    }

    /// Everybody whom these keys of a shard name.
    pub(crate) async fn read_all(&self, place: Place, keys: &[String; 7]) -> Result<Vec<Restored>, Error> {
        let [_, buyers, fresh, back, _, _, dead] = keys;
        let mut found = Found::default();
        for (user, record) in self.pairs(buyers).await? {
            let buyer = UserId::new(&user)
                .ok()
                .and_then(|user| read_buyer(place, user, &record));
            match buyer {
                Some(buyer) => found.buyer(buyer),
                None => tracing::error!(%place, user, "the entry of a buyer cannot be read"),
            }
        }
        for delivery in self.fresh_tickets(place, fresh).await? {
            found.waits(delivery);
        }
        for (sequence, text) in self.pairs(back).await? {
            match back_ticket(place, &sequence, &text) {
                Some(delivery) => found.waits(delivery),
                None => tracing::error!(%place, sequence, "a ticket cannot be read"),
            }
        }
        for (sequence, text) in self.pairs(dead).await? {
            match read_dead(place, &sequence, &text) {
                Some((buyer, reason)) => found.dead(&buyer, reason),
                None => tracing::error!(%place, sequence, "a dead letter cannot be read"),
            }
        }
        Ok(found.remains())
    }

    /// All fields of a hash; none where the key is something else.
    async fn pairs(&self, key: &str) -> Result<Vec<(String, String)>, Error> {
        let mut all = Vec::new();
        if !self.is(key, "hash").await? {
            return Ok(all);
        }
        let mut walk = Walk::over(key.to_owned());
        loop {
            let step = self.walk_on(&mut walk, STEP_SIZE).await?;
            if step.is_first {
                all.clear();
            }
            let pairs = step.pairs.into_iter();
            all.extend(pairs.map(|(field, value)| (text(&field), text(&value))));
            if step.is_last {
                return Ok(all);
            }
        }
    }

    /// The tickets of a stream, taken or not; none where the key is something else.
    async fn fresh_tickets(&self, place: Place, key: &str) -> Result<Vec<Delivery>, Error> {
        let mut tickets = Vec::new();
        if !self.is(key, "stream").await? {
            return Ok(tickets);
        }
        let mut from = "-".to_owned();
        loop {
            let mut command = cmd("XRANGE");
            command.arg(key).arg(&from).arg("+").arg("COUNT").arg(STEP_SIZE);
            let entries: Vec<(String, Vec<Bytes>)> = self.link.command(&command).await?;
            let Some((last, _)) = entries.last() else {
                return Ok(tickets);
            };
            from = format!("({last}");
            for (id, fields) in &entries {
                let fields: Vec<_> = fields.iter().map(|field| text(field)).collect();
                let read = entry_tickets(place, id, &fields);
                if read.is_none() {
                    tracing::error!(%place, id, "an entry of the stream cannot be read");
                }
                tickets.extend(read.unwrap_or_default());
            }
        }
    }

    async fn is(&self, key: &str, kind: &str) -> Result<bool, Error> {
        let found: String = self.link.command(cmd("TYPE").arg(key)).await?;
        if found != kind && found != "none" {
            tracing::error!(key, found, "a key of a lost state is not what it was");
        }
        Ok(found == kind)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The tickets of a stream entry: its id is their first sequence and their number, and each line of `winners` is one.
fn entry_tickets(place: Place, id: &str, fields: &[String]) -> Option<Vec<Delivery>> {
    let field = |name: &str| {
        fields
            .chunks_exact(2)
            .find(|pair| pair[0] == name)
            .map(|pair| pair[1].as_str())
    };
    let first: u64 = id.split('-').next()?.parse().ok()?;
    let (epoch, at) = (field("epoch")?, field("at")?);
    let read = |(nth, line): (u64, &str)| {
        let mut words = line.splitn(4, ' ');
        let (user, quantity, key, request_id) = (words.next()?, words.next()?, words.next()?, words.next()?);
        let ticket = format!("0 {user} {quantity} {key} {epoch} {at} {request_id}");
        read_delivery(place, &(first + nth).to_string(), "0", &ticket)
    };
    Some((0..).zip(field("winners")?.lines()).filter_map(read).collect())
}

/// A ticket of the hash `back`: flag, attempts, deliveries, then the ticket.
fn back_ticket(place: Place, sequence: &str, text: &str) -> Option<Delivery> {
    let mut words = text.splitn(4, ' ');
    let (_flag, attempts, deliveries, ticket) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let sequence = sequence.trim_start_matches('0');
    read_delivery(place, sequence, deliveries, &format!("{attempts} {ticket}"))
}

impl Found {
    fn buyer(&mut self, buyer: Buyer) {
        self.0.insert(buyer.user.clone(), buyer.into());
    }

    /// A ticket says more than the buyer's entry: the request, and how often it was tried.
    fn waits(&mut self, delivery: Delivery) {
        let buyer = Buyer {
            user: delivery.user.clone(),
            ticket: delivery.ticket,
            quantity: delivery.quantity,
            key: delivery.key,
            accepted_at: delivery.accepted_at,
            state: TicketState::Queued,
        };
        let known = self.0.entry(delivery.user).or_insert_with(|| buyer.into());
        if known.sequence == delivery.ticket.sequence {
            known.attempts = delivery.attempts;
            known.request_id = Some(delivery.request_id);
        }
    }

    fn dead(&mut self, buyer: &Buyer, reason: String) {
        let known = self.0.entry(buyer.user.clone()).or_insert_with(|| buyer.clone().into());
        if known.sequence == buyer.ticket.sequence {
            known.dead_reason = reason;
        }
    }

    fn remains(self) -> Vec<Restored> {
        let mut buyers: Vec<_> = self.0.into_values().collect();
        buyers.sort_unstable_by_key(|buyer| buyer.sequence);
        buyers
    }
}
