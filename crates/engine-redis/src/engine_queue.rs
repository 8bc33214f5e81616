//! The handle as a queue.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use futures_util::future::join_all;
use redis::cmd;
use seckill_queue::{Adopted, Adoption, Depth, Error, Queue, SaleDepth, Taken, Verdicts};
use seckill_sale::{ActivityId, Buyer, Delivery, NotReady, Ticket};

use crate::buyer::{read_dead, read_delivery};
use crate::engine::Engine;
use crate::keys::{self, Place, of_ticket};
use crate::script::{LOOK, RECLAIM, RECORD, Script, TAKE};
use crate::shared::Shared;
use crate::verdicts;

/// Tickets that one call takes: the server does nothing else meanwhile.
const TAKE_SIZE_MAX: usize = 20_000;
/// Tickets that one call settles, all or none: their buyers are read by one command, and Lua bears 8,000 arguments.
const RECORD_SIZE_MAX: usize = 5_000;

/// Keeps the highest number. No hash tag of a sale: it outlives them.
const KEEP_HIGHEST: &str = "local kept = tonumber(redis.call('GET', KEYS[1]) or '0')
if kept < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
return 0";

#[async_trait]
impl Queue for Engine {
    async fn take(&self, count: usize) -> Result<Vec<Delivery>, Error> {
        Ok(self.take_of_state(count).await?.tickets)
    }

    async fn take_of_state(&self, count: usize) -> Result<Taken, Error> {
        if count == 0 {
            return Ok(Taken::default());
        }
        let (mut asked, mut taken, mut broken) = (Vec::new(), Taken::default(), None);
        if self.0.next_place(&[], None).is_none() {
            // Sales of servers that answer were read all the same.
            broken = self.0.refresh().await.err();
        }
        // A shard that others have emptied meanwhile, or that cannot be used or asked, is passed over. Other shards of the same sale fill the
        // batch up.
        let of_sale = |taken: &Taken| taken.tickets.first().map(|first| first.ticket.activity);
        while let Some(place) = self.0.next_place(&asked, of_sale(&taken)) {
            asked.push(place);
            self.0.turns.lock().serve(place.activity);
            match self.0.take(place, count - taken.tickets.len()).await {
                Ok(more) if more.tickets.is_empty() => {}
                Ok(more) => {
                    // Shards differ for a moment where one is raised after another; the ledger is told the older epoch.
                    taken.epoch = taken.epoch.into_iter().chain(more.epoch).min();
                    taken.created_at = taken.created_at.or(more.created_at);
                    taken.tickets.extend(more.tickets);
                }
                Err(error) => broken = Some(error),
            }
            let is_whole = !place.shards.is_split() && !taken.tickets.is_empty();
            if is_whole || taken.tickets.len() == count {
                break;
            }
        }
        // What is in hand is not lost by an error.
        match broken {
            Some(error) if taken.tickets.is_empty() => Err(error.into()),
            _ => Ok(taken),
        }
    }

    async fn adopt(&self, tickets: Vec<Delivery>, adoption: Adoption) -> Result<Vec<Adopted>, Error> {
        Ok(self.0.adopt(&tickets, adoption).await?)
    }

    fn loses_states(&self) -> bool {
        true
    }

    fn has_orphans(&self) -> bool {
        self.0.remembered.has_orphans(|place| self.0.epoch_of(place))
    }

    fn orphans(&self) -> Vec<seckill_queue::Orphans> {
        self.0.remembered.orphans(|place| self.0.epoch_of(place))
    }

    async fn ready(&self) {
        loop {
            let woken = self.0.wake.notified();
            tokio::pin!(woken);
            woken.as_mut().enable();
            if self.0.next_place(&[], None).is_some() {
                return;
            }
            let _ = tokio::time::timeout(self.0.until_due(), woken).await;
        }
    }

    async fn record(&self, verdicts: Verdicts) -> Result<(), Error> {
        let settled_batch = verdicts.settled_batch;
        let mut shards: Vec<(Place, Vec<Vec<u8>>)> = Vec::new();
        for (ticket, verdict) in &verdicts.tickets {
            let (place, nth) = of_ticket(self.0.shards(ticket.activity).await?, *ticket);
            let arguments = verdicts::arguments(nth, verdict);
            match shards.iter_mut().find(|(known, _)| *known == place) {
                Some((_, tickets)) => tickets.extend(arguments),
                None => shards.push((place, arguments.into())),
            }
        }
        // Shards are recorded at once, each all or none; what one did not take is told again, which the others do not mind.
        let recorded = shards
            .iter()
            .map(|(place, tickets)| self.0.record_at(*place, tickets, settled_batch));
        for recorded in join_all(recorded).await {
            recorded?;
        }
        self.0.to_note.fetch_max(settled_batch, Ordering::Relaxed);
        self.0.note_acknowledged().await;
        Ok(())
    }

    async fn revive(&self, ticket: Ticket) -> Result<(), Error> {
        let (place, nth) = of_ticket(self.0.shards(ticket.activity).await?, ticket);
        let revived = [nth.to_string(), "revive".to_owned(), String::new(), String::new()];
        Ok(self.0.record_at(place, &revived.map(String::into_bytes), 0).await?)
    }

    async fn dead_letters(&self, activity: ActivityId) -> Result<Vec<(Buyer, String)>, Error> {
        let mut dead = Vec::new();
        for place in Place::all(activity, self.0.shards(activity).await?) {
            let payload = self.0.work(&LOOK, place, vec![b"dead".to_vec()]).await?;
            let read = |pair: &[String]| read_dead(place, pair.first()?, pair.get(1)?);
            dead.extend(payload.chunks(2).filter_map(read));
        }
        dead.sort_by_key(|(buyer, _)| buyer.ticket.sequence);
        Ok(dead)
    }

    fn depth(&self) -> Depth {
        self.0.over_shards(Depth::default(), |depth, _, shard| {
            let oldest = shard
                .figures
                .oldest_accepted_at
                .into_iter()
                .chain(depth.oldest_accepted_at);
            Depth {
                tickets: depth.tickets + shard.figures.queued_tickets,
                oldest_accepted_at: oldest.min(),
                newest_accepted_at: shard.newest_accepted_at.max(depth.newest_accepted_at),
                dead: depth.dead + shard.figures.dead_tickets,
            }
        })
    }

    fn depths(&self) -> Vec<SaleDepth> {
        self.0.depths()
    }
}

impl Shared {
    /// The payload of a script; nothing where the shard has no state.
    async fn work(&self, script: &Script, place: Place, arguments: Vec<Vec<u8>>) -> Result<Vec<String>, crate::Error> {
        match self.call(script, place, arguments).await?.done() {
            Err(crate::Error::NotReady(NotReady::NotPreheated)) => Ok(Vec::new()),
            outcome => outcome.map(|(_, payload)| payload),
        }
    }

    /// Notes the newest settled batch, where that is still to be done. Verdicts do not wait for it: it has a server of its own, and settling
    /// the sales of others goes on while that one is gone. Until it is back an older copy of the ledger is told by the sales alone.
    pub(crate) async fn note_acknowledged(&self) {
        let batch = self.to_note.load(Ordering::Relaxed);
        if batch == 0 {
            return;
        }
        let mut command = cmd("EVAL");
        command.arg(KEEP_HIGHEST).arg(1).arg(keys::ACKNOWLEDGED).arg(batch);
        match self.link.command::<u64>(&command).await {
            Ok(_) => {
                // A later one is noted by whoever told of it.
                let order = Ordering::Relaxed;
                let _later = self.to_note.compare_exchange(batch, 0, order, order);
            }
            Err(error) => tracing::debug!(%error, batch, "the newest settled batch is noted later"),
        }
    }

    /// What a process of this name took before it died is handed out again at once: no two that run have the same name.
    pub(crate) async fn reclaim(&self) -> Result<(), crate::Error> {
        let consumer = self.options.consumer.as_bytes().to_vec();
        for activity in self.refresh().await? {
            let shards = self.shards(activity).await?;
            self.call_all(&RECLAIM, activity, shards, std::slice::from_ref(&consumer))
                .await?;
        }
        Ok(())
    }

    async fn take(&self, place: Place, count: usize) -> Result<Taken, crate::Error> {
        let waits = self.options.waits;
        let arguments = [
            count.min(TAKE_SIZE_MAX).to_string(),
            waits.lease_ms.to_string(),
            waits.retry_ms.to_string(),
            self.options.consumer.clone(),
        ];
        let arguments = arguments.map(String::into_bytes).into();
        let (summary, payload) = match self.call(&TAKE, place, arguments).await?.done() {
            Err(crate::Error::NotReady(NotReady::NotPreheated)) => return Ok(Taken::default()),
            outcome => outcome?,
        };
        let said = payload.first().map(String::as_str);
        self.note_newer(place, said == Some("newer"), payload.len() == 1);
        if said == Some("healed") {
            tracing::error!(%place, "the consumer group of a sale was lost or moved; it was mended, and tickets may be handed out again");
        }
        let tickets = payload.get(1..).unwrap_or_default();
        let read = |ticket: &[String]| read_delivery(place, &ticket[0], &ticket[1], &ticket[2]);
        Ok(Taken {
            tickets: tickets.chunks_exact(3).filter_map(read).collect(),
            epoch: Some(summary.figures.epoch),
            created_at: summary.created_at,
        })
    }

    /// Records verdicts on tickets of one shard, four arguments each.
    async fn record_at(&self, place: Place, tickets: &[Vec<u8>], settled_batch: u64) -> Result<(), crate::Error> {
        let lease_ms = self.options.waits.lease_ms;
        let head = [lease_ms.to_string(), settled_batch.to_string()].map(String::into_bytes);
        for part in tickets.chunks(4 * RECORD_SIZE_MAX) {
            let arguments = head.iter().chain(part).cloned().collect();
            self.work(&RECORD, place, arguments).await?;
        }
        Ok(())
    }
}
