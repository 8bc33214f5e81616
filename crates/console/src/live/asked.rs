//! What is asked of the store for live figures: once a second at most, however many watch.

use std::sync::Arc;
use std::time::{Duration, Instant};

use seckill_stock::Living;
use seckill_stock::members::SCHEDULER_LEASE;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::figures::Figures;
use crate::state::Console;

/// An answer that is younger is shared by all who watch.
const FRESH: Duration = Duration::from_millis(900);
/// Longest wait for the store: then it counts as down, and the figures of this node alone are shown.
const ANSWER_WITHIN: Duration = Duration::from_millis(800);

/// The last answer.
#[derive(Default)]
pub(crate) struct Asked(Mutex<Option<(Instant, Arc<Nodes>)>>);

/// What the store says of the nodes.
pub(crate) struct Nodes {
    /// None where it did not answer.
    pub(crate) living: Option<Vec<(Living, Figures)>>,
    /// Who runs the scheduler.
    pub(crate) scheduler: Option<String>,
    pub(crate) answered_in_ms: u64,
}

impl Asked {
    /// The nodes of this moment.
    pub(crate) async fn nodes(&self, console: &Console) -> Arc<Nodes> {
        let mut last = self.0.lock().await;
        if let Some((at, nodes)) = &*last
            && at.elapsed() < FRESH
        {
            return nodes.clone();
        }
        let asked_at = Instant::now();
        let both = async {
            let living = console.nodes().await?;
            let scheduler = console.live.members.holder(SCHEDULER_LEASE).await?;
            Ok::<_, seckill_stock::Error>((living, scheduler))
        };
        let answer = timeout(ANSWER_WITHIN, both).await.ok().and_then(Result::ok);
        let (living, scheduler) = answer.map_or((None, None), |(living, scheduler)| (Some(living), scheduler));
        let nodes = Arc::new(Nodes {
            living,
            scheduler,
            answered_in_ms: u64::try_from(asked_at.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
        *last = Some((asked_at, nodes.clone()));
        nodes
    }
}
