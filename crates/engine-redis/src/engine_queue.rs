//! The handle as a queue.

use std::time::Duration;

use async_trait::async_trait;
use redis::cmd;
use seckill_queue::{Adopted, Adoption, Depth, Error, Queue, Taken, Verdicts};
use seckill_sale::{ActivityId, Buyer, Delivery, NotReady, Ticket};

use crate::buyer::{read_dead, read_delivery};
use crate::engine::Engine;
use crate::script::{LOOK, RECLAIM, RECORD, Script, TAKE};
use crate::shared::Shared;
use crate::{keys, verdicts};

/// Tickets that one call takes: the server does nothing else meanwhile.
const TAKE_SIZE_MAX: usize = 20_000;
/// Tickets that one call settles, all or none: their buyers are read by one command, and Lua bears 8,000 arguments.
const RECORD_SIZE_MAX: usize = 5_000;
/// Longest wait of [`Queue::ready`] for tickets that nobody has announced.
const WAIT_MAX: Duration = Duration::from_millis(500);

/// Arguments of `record.lua` before its tickets.
const HEAD: usize = 2;

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
        if self.0.longest_wait(&[]).is_none() {
            self.0.refresh().await?;
        }
        let (mut passed_over, mut trouble) = (Vec::new(), None);
        // Passed over are a sale that others have emptied meanwhile, and one whose state cannot be used: the others go on.
        while let Some(activity) = self.0.longest_wait(&passed_over) {
            match self.0.take(activity, count).await {
                Ok(taken) if taken.tickets.is_empty() => {}
                Err(error @ crate::Error::NotReady(_)) => trouble = Some(error),
                taken => return Ok(taken?),
            }
            passed_over.push(activity);
        }
        trouble.map_or_else(|| Ok(Taken::default()), |error| Err(error.into()))
    }

    async fn adopt(&self, tickets: Vec<Delivery>, adoption: Adoption) -> Result<Vec<Adopted>, Error> {
        Ok(self.0.adopt(&tickets, adoption).await?)
    }

    fn loses_states(&self) -> bool {
        true
    }

    fn has_orphans(&self) -> bool {
        self.0.remembered.has_orphans(|activity| self.0.epoch_of(activity))
    }

    fn orphans(&self) -> Vec<Delivery> {
        self.0.remembered.orphans(|activity| self.0.epoch_of(activity))
    }

    async fn ready(&self) {
        loop {
            let woken = self.0.wake.notified();
            tokio::pin!(woken);
            woken.as_mut().enable();
            if self.0.longest_wait(&[]).is_some() {
                return;
            }
            let _ = tokio::time::timeout(self.0.until_due(), woken).await;
        }
    }

    async fn record(&self, verdicts: Verdicts) -> Result<(), Error> {
        let settled_batch = verdicts.settled_batch;
        let mut sales: Vec<(ActivityId, Vec<Vec<u8>>)> = Vec::new();
        for (ticket, verdict) in &verdicts.tickets {
            let place = sales.iter().position(|(activity, _)| *activity == ticket.activity);
            let place = place.unwrap_or_else(|| {
                let arguments = self.0.record_arguments(settled_batch);
                sales.push((ticket.activity, arguments));
                sales.len() - 1
            });
            sales[place].1.extend(verdicts::arguments(*ticket, verdict));
        }
        for (activity, mut arguments) in sales {
            let tickets = arguments.split_off(HEAD);
            for part in tickets.chunks(4 * RECORD_SIZE_MAX) {
                let part = arguments.iter().chain(part).cloned().collect();
                self.0.work(&RECORD, activity, part).await?;
            }
        }
        if 0 < settled_batch {
            let mut command = cmd("EVAL");
            command
                .arg(KEEP_HIGHEST)
                .arg(1)
                .arg(keys::ACKNOWLEDGED)
                .arg(settled_batch);
            let _kept: u64 = self.0.link.command(&command).await?;
        }
        Ok(())
    }

    async fn revive(&self, ticket: Ticket) -> Result<(), Error> {
        let mut arguments = self.0.record_arguments(0);
        arguments.extend(
            [
                ticket.sequence.to_string(),
                "revive".to_owned(),
                String::new(),
                String::new(),
            ]
            .map(String::into_bytes),
        );
        self.0.work(&RECORD, ticket.activity, arguments).await?;
        Ok(())
    }

    async fn dead_letters(&self, activity: ActivityId) -> Result<Vec<(Buyer, String)>, Error> {
        let payload = self.0.work(&LOOK, activity, vec![b"dead".to_vec()]).await?;
        let read = |pair: &[String]| read_dead(activity, pair.first()?, pair.get(1)?);
        let mut dead: Vec<_> = payload.chunks(2).filter_map(read).collect();
        dead.sort_by_key(|(buyer, _)| buyer.ticket.sequence);
        Ok(dead)
    }

    fn depth(&self) -> Depth {
        self.0.over_sales(Depth::default(), |depth, _, sale| {
            let oldest = sale
                .figures
                .oldest_accepted_at
                .into_iter()
                .chain(depth.oldest_accepted_at);
            Depth {
                tickets: depth.tickets + sale.figures.queued_tickets,
                oldest_accepted_at: oldest.min(),
                newest_accepted_at: sale.newest_accepted_at.max(depth.newest_accepted_at),
                dead: depth.dead + sale.figures.dead_tickets,
            }
        })
    }
}

impl Shared {
    /// The payload of a script; nothing where the sale has no state.
    async fn work(
        &self,
        script: &Script,
        activity: ActivityId,
        arguments: Vec<Vec<u8>>,
    ) -> Result<Vec<String>, crate::Error> {
        match self.call(script, activity, arguments).await?.done() {
            Err(crate::Error::NotReady(NotReady::NotPreheated)) => Ok(Vec::new()),
            outcome => outcome.map(|(_, payload)| payload),
        }
    }

    /// What a process of this name took before it died is handed out again at once: no two that run have the same name.
    pub(crate) async fn reclaim(&self) -> Result<(), crate::Error> {
        let consumer = self.options.consumer.as_bytes().to_vec();
        for activity in self.refresh().await? {
            self.call(&RECLAIM, activity, vec![consumer.clone()]).await?;
        }
        Ok(())
    }

    async fn take(&self, activity: ActivityId, count: usize) -> Result<Taken, crate::Error> {
        let waits = self.options.waits;
        let arguments = [
            count.min(TAKE_SIZE_MAX).to_string(),
            waits.lease_ms.to_string(),
            waits.retry_ms.to_string(),
            self.options.consumer.clone(),
        ];
        let arguments = arguments.map(String::into_bytes).into();
        let (summary, payload) = match self.call(&TAKE, activity, arguments).await?.done() {
            Err(crate::Error::NotReady(NotReady::NotPreheated)) => return Ok(Taken::default()),
            outcome => outcome?,
        };
        if payload.first().is_some_and(|said| said == "healed") {
            tracing::error!(%activity, "the consumer group of a sale was lost or moved; it was mended, and tickets may be handed out again");
        }
        let tickets = payload.get(1..).unwrap_or_default();
        let read = |ticket: &[String]| read_delivery(activity, &ticket[0], &ticket[1], &ticket[2]);
        Ok(Taken {
            tickets: tickets.chunks_exact(3).filter_map(read).collect(),
            epoch: Some(summary.figures.epoch),
        })
    }

    fn record_arguments(&self, settled_batch: u64) -> Vec<Vec<u8>> {
        let lease_ms = self.options.waits.lease_ms;
        vec![
            lease_ms.to_string().into_bytes(),
            settled_batch.to_string().into_bytes(),
        ]
    }

    /// How long nothing can be taken, as far as this node knows.
    fn until_due(&self) -> Duration {
        let now = self.time.now();
        let due = self.over_sales(None, |first, _, sale| {
            let due = sale.next_due(self.options.waits);
            due.into_iter().chain(first).min()
        });
        let ms = due.map(|at| u64::try_from(at.since(now)).unwrap_or(0));
        ms.map_or(WAIT_MAX, |ms| Duration::from_millis(ms.max(1))).min(WAIT_MAX)
    }
}
