//! A house as one node of several.

use std::sync::Arc;

use futures_util::FutureExt as _;
use seckill_api::Readiness;
use seckill_console::Console;
use seckill_flow::{Layers, Results};
use seckill_gate::Gate;
use seckill_metrics::Metrics;
use seckill_stock::members::SCHEDULER_LEASE;
use seckill_stock::{Members, Stock};

use crate::house::House;
use crate::setup::{console, gate, live, metrics};

impl House {
    /// Says that the node lives, and that it runs the scheduler.
    pub(crate) fn beat(&self) {
        let beat = self.console.beat(self.store.now());
        beat.now_or_never().expect("at once").expect("heard");
        let lease = self.store.lease(SCHEDULER_LEASE, "node-1", 10_000);
        assert_eq!(lease.now_or_never().expect("at once"), Ok(true));
    }

    /// A gate and a console of another node, or of this one after a restart, over the same ledger.
    pub(crate) async fn another_gate(&self) -> Arc<Gate> {
        self.another_node(Arc::new(self.store.clone()), "node-2").await.0
    }

    /// The same, with its metrics; it meets others in `members`.
    pub(crate) async fn another_node(
        &self,
        members: Arc<dyn Members>,
        id: &str,
    ) -> (Arc<Gate>, Arc<Console>, Arc<Metrics>) {
        let gate = gate();
        let shared = Arc::new(self.store.clone());
        let layers = Layers {
            stock: shared.clone(),
            queue: shared.clone(),
            ledger: self.ledger.clone(),
            results: Arc::new(Results::new(shared, self.ledger.clone(), Arc::default())),
            catalogue: gate.catalogue().clone(),
        };
        let metrics = metrics();
        let live = live(id, members, &metrics);
        let console = console(layers, &gate, &Readiness::default(), live, &metrics);
        console.refresh().await.expect("the ledger answers");
        (gate, console, metrics)
    }
}
