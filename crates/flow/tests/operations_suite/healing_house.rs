//! A house whose store is harmed, healed and looked at.

use std::time::{Duration, Instant};

use seckill_flow::Ticked;
use seckill_ledger::{RecordState, Settlement};
use seckill_sale::{ActivityId, NotReady, Refusal, Shards};
use seckill_stock::Stock;

use crate::house::{House, user};

pub(crate) const KEYS: [&str; 7] = ["meta", "buyers", "fresh", "back", "due", "order", "dead"];
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a state that takes the place of a lost one admits nobody, at the most.
pub(crate) const GRACE_MS: i64 = 1_000;

/// Every key of a sale.
pub(crate) fn keys(id: ActivityId) -> Vec<String> {
    let of_shard = |shard| KEYS.map(|name| format!("{{a:{id}:{shard}}}:{name}"));
    (0..crate::SHARDS).flat_map(of_shard).collect()
}

pub(crate) fn shards() -> Shards {
    Shards::new(crate::SHARDS.into()).expect("in range")
}

impl House {
    /// A key of this name: of the first shard that has one.
    pub(crate) fn key(&self, id: ActivityId, name: &str) -> String {
        let keys = (0..crate::SHARDS).map(|shard| format!("{{a:{id}:{shard}}}:{name}"));
        let there = keys.clone().find(|key| self.redis(&["EXISTS", key]).starts_with(":1"));
        there.or_else(|| keys.into_iter().next()).expect("a shard")
    }

    pub(crate) fn redis(&self, words: &[&str]) -> String {
        self.engine.server.command(words).expect("answers")
    }

    /// Every key of the sale as it is now, to be put back by [`House::goes_back`].
    pub(crate) fn keeps_a_copy(&self, id: ActivityId) {
        for key in keys(id) {
            self.redis(&["COPY", &key, &format!("kept:{key}")]);
        }
    }

    /// The store as it was when the copy was made, on a server that started anew.
    pub(crate) fn goes_back(&self, id: ActivityId) {
        for key in keys(id) {
            self.redis(&["DEL", &key]);
            self.redis(&["RENAME", &format!("kept:{key}"), &key]);
            if key.ends_with(":meta") {
                self.redis(&["HSET", &key, "server", "another"]);
            }
        }
    }

    /// The scheduler's next tick, once the server answers; and what it healed has been open for a while.
    pub(crate) async fn tick(&self, id: ActivityId) -> Ticked {
        let ticked = self.heal(id).await;
        if !ticked.healed.is_empty() {
            self.clock.advance(GRACE_MS);
        }
        ticked
    }

    /// The scheduler's next tick, once the server answers.
    pub(crate) async fn heal(&self, id: ActivityId) -> Ticked {
        let until = Instant::now() + PATIENCE;
        while self.store.condition(id).await.is_err() {
            assert!(Instant::now() < until, "the server does not answer");
            tokio::task::yield_now().await;
        }
        self.scheduler().tick(self.clock_now()).await
    }

    /// Heals, settles what there is, and looks: the books balance, nothing was sold twice, and each of these has one order or one failure.
    pub(crate) async fn is_well(&self, id: ActivityId, acknowledged: &[&str]) {
        assert_eq!(self.tick(id).await.failures, []);
        self.settle().await;
        let audit = self.balanced(id).await;
        assert!(audit.orders_live <= audit.stock_total, "{audit:?}");
        assert_eq!(audit.queued, 0, "{audit:?}");
        for name in acknowledged {
            let record = self.ledger.record(id, &user(name)).await.expect("read");
            assert!(record.is_some(), "{name} was told that he has a ticket");
        }
        // A second time changes nothing.
        let figures = self.figures(id).await;
        assert_eq!(self.tick(id).await.healed, []);
        assert_eq!(self.figures(id).await, figures);
    }

    pub(crate) async fn recovers(&self, id: ActivityId) {
        // A shard that is lost is noticed by whoever asks for it, or by who reads them all.
        let _read = self.store.activities().await;
        let refused = self.claim(id, "new", 1).await;
        let not_ready = [NotReady::Recovering, NotReady::NotPreheated].map(|reason| Err(Refusal::NotReady(reason)));
        assert!(not_ready.contains(&refused), "{refused:?}");
        assert_eq!(self.tick(id).await.healed, [id]);
    }

    pub(crate) async fn count_succeeded(&self, id: ActivityId, names: &[&str]) -> usize {
        let mut count = 0;
        for name in names {
            count += usize::from(self.succeeded(id, name).await);
        }
        count
    }

    pub(crate) async fn succeeded(&self, id: ActivityId, name: &str) -> bool {
        let record = self.ledger.record(id, &user(name)).await.expect("read");
        record.is_some_and(|record| record.state == RecordState::Succeeded)
    }
}
