//! What a node says of its last second, as it travels to other nodes: small JSON, in which another version may miss or add members.

use std::collections::BTreeMap;

use seckill_metrics::{Label, OUTCOMES, Outcome, Outcomes, Second};
use serde::{Deserialize, Serialize};

/// Figures of one node over its last second.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Figures {
    /// How long that second was, in milliseconds; 0 where nothing is known yet.
    pub(crate) over_ms: u64,
    pub(crate) requests: u64,
    pub(crate) orders: u64,
    pub(crate) in_flight: u64,
    /// Purchases by how they ended; none of those that did not occur.
    pub(crate) outcomes: BTreeMap<String, u64>,
    /// How long purchases took: upper bound of a bucket in microseconds, and how many.
    pub(crate) latency_us: Vec<(u64, u64)>,
    /// Workers that run.
    pub(crate) workers: u64,
    /// When one of them last finished a batch, in epoch milliseconds; 0: never.
    pub(crate) last_batch_at: i64,
    /// Whether the node reaches its database.
    pub(crate) database_up: bool,
    /// Activities that something happened to.
    pub(crate) activities: Vec<OfActivity>,
}

/// Figures of one activity on one node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct OfActivity {
    pub(crate) id: u64,
    pub(crate) outcomes: BTreeMap<String, u64>,
    pub(crate) orders: u64,
}

/// What workers of a node do.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Workers {
    pub(crate) running: u64,
    pub(crate) last_batch_at: i64,
}

impl Figures {
    pub(crate) fn new(second: &Second, workers: Workers, database_up: bool) -> Self {
        let activities = second.activities.iter().map(|activity| OfActivity {
            id: activity.id,
            outcomes: named(&activity.outcomes),
            orders: activity.orders,
        });
        Self {
            over_ms: second.over_ms,
            requests: second.requests,
            orders: second.orders,
            in_flight: second.in_flight,
            outcomes: named(&second.outcomes),
            latency_us: second.latency_us.clone(),
            workers: workers.running,
            last_batch_at: workers.last_batch_at,
            database_up,
            activities: activities
                .filter(|activity| !activity.outcomes.is_empty() || activity.orders != 0)
                .collect(),
        }
    }

    /// What another node said; as good as nothing where it can't be read.
    pub(crate) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// So many within the second, as a rate.
    pub(crate) fn per_second(&self, count: u64) -> f64 {
        if self.over_ms == 0 {
            return 0.0;
        }
        count as f64 * 1_000.0 / self.over_ms as f64
    }
}

fn named(outcomes: &Outcomes) -> BTreeMap<String, u64> {
    let named = (0..OUTCOMES).map(|at| (Outcome::VALUES[at].to_owned(), outcomes[at]));
    named.filter(|(_, count)| *count != 0).collect()
}

#[cfg(test)]
mod tests {
    use seckill_metrics::{ACTIVITIES_COUNTED_MAX, ActivitySecond};

    use super::*;

    fn second(activities: u64, count: u64) -> Second {
        let of = |id| ActivitySecond {
            id,
            outcomes: [count; OUTCOMES],
            orders: count,
            stock_left: Some(count),
        };
        Second {
            over_ms: 1_000,
            requests: count,
            orders: count,
            outcomes: [count; OUTCOMES],
            latency_us: (0..62).map(|at| (10_000_000 + at, count)).collect(),
            in_flight: count,
            activities: (1..=activities).map(of).collect(),
        }
    }

    #[test]
    fn figures_come_back_as_they_were_and_the_busiest_fit_into_a_beat() {
        let workers = Workers {
            running: 2,
            last_batch_at: 7,
        };
        let busiest = second(ACTIVITIES_COUNTED_MAX as u64, 9_999);
        let figures = Figures::new(&busiest, workers, true);
        let text = serde_json::to_string(&figures).unwrap();
        assert!(
            text.len() <= seckill_stock::members::FIGURES_BYTES_MAX,
            "{}",
            text.len()
        );
        assert_eq!(Figures::read(&text), figures);
    }

    #[test]
    fn what_did_not_happen_is_not_said_and_what_is_missing_is_nothing() {
        let figures = Figures::new(&second(3, 0), Workers::default(), true);
        assert!(figures.activities.is_empty() && figures.outcomes.is_empty());
        for text in ["", "{}", "7", "{\"requests\":-1}"] {
            assert_eq!(Figures::read(text), Figures::default(), "{text}");
        }
        let newer = Figures::read("{\"over_ms\":500,\"requests\":20,\"something_new\":[1]}");
        assert_eq!(
            (newer.per_second(newer.requests), Figures::default().per_second(5)),
            (40.0, 0.0)
        );
    }
}
