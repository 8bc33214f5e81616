//! The flight recorder over real counters: what a second shows, what is kept of a sale, and that nothing grows without bound.

use std::sync::Arc;
use std::time::Duration;

use seckill_metrics::{
    BEFORE_START_MS, Core, Facts, Followed, Metrics, Outcome, RECORDINGS_MAX, Recorder, SLOT_MS, Setup, percentile_us,
};

const START_MS: i64 = 1_000_000_000;
const END_MS: i64 = START_MS + 60_000;

struct Node {
    metrics: Arc<Metrics>,
    recorder: Recorder,
    buy: usize,
}

impl Node {
    fn new() -> Self {
        let metrics = Arc::new(Metrics::new(Setup {
            cores: 2,
            routes: &["/api/seckill/{activity_id}", "/api/time"],
            version: "0",
            revision: None,
        }));
        Self {
            buy: metrics.http_requests.route("/api/seckill/{activity_id}"),
            recorder: Recorder::new(metrics.clone()),
            metrics,
        }
    }

    fn bought(&self, activity: u64, outcome: Outcome, times: u64, took_us: u64) {
        for time in 0..times {
            let core = Core::new(usize::from(time % 2 == 1));
            self.metrics.purchases.inc(core, activity, outcome);
            self.metrics
                .answered(core, self.buy, "POST", 410, Duration::from_micros(took_us));
        }
    }

    fn sample(&self, now_ms: i64, activities: &[Followed]) {
        self.recorder.sample(&Facts {
            now_ms,
            queue_depth: 7,
            oldest_ms: 40,
            orders_written: 0,
            activities,
        });
    }
}

fn sale(id: u64, stock_left: u64, orders_written: u64) -> Followed {
    Followed {
        id,
        starts_at_ms: START_MS,
        ends_at_ms: END_MS,
        stock_left: Some(stock_left),
        orders_written,
    }
}

#[test]
fn a_second_shows_what_happened_within_it_and_nothing_older() {
    let node = Node::new();
    assert_eq!(node.recorder.last_second().over_ms, 0);
    node.sample(START_MS, &[sale(7, 100, 0)]);
    node.bought(7, Outcome::SoldOut, 90, 90);
    node.bought(7, Outcome::Accepted, 10, 9_000);
    node.bought(8, Outcome::SoldOut, 5, 90);
    for slot in 1..=10 {
        node.sample(START_MS + slot * SLOT_MS, &[sale(7, 90, 10)]);
    }
    let second = node.recorder.last_second();
    assert_eq!((second.over_ms, second.requests), (1_000, 105));
    assert_eq!(second.outcomes[Outcome::SoldOut as usize], 95);
    let of_sale = &second.activities[0];
    assert_eq!((of_sale.id, of_sale.orders, of_sale.stock_left), (7, 10, Some(90)));
    assert_eq!(of_sale.outcomes[Outcome::SoldOut as usize], 90);
    let at = |share| percentile_us(&second.latency_us, share);
    assert_eq!((at(0.5), at(0.99)), (100, 10_000));
    node.sample(START_MS + 11 * SLOT_MS, &[sale(7, 90, 10)]);
    let second = node.recorder.last_second();
    assert_eq!(
        (second.over_ms, second.requests, second.latency_us.len()),
        (1_000, 0, 0)
    );
}

#[test]
fn a_sale_is_recorded_from_two_minutes_before_its_start_to_its_end() {
    let node = Node::new();
    let begins_ms = START_MS - BEFORE_START_MS;
    for now_ms in [begins_ms - 2_000, begins_ms - SLOT_MS] {
        node.sample(now_ms, &[sale(7, 10, 0)]);
    }
    assert_eq!(node.recorder.recording(7), None);
    node.sample(begins_ms, &[sale(7, 10, 0)]);
    node.bought(7, Outcome::NotStarted, 3, 50);
    node.sample(START_MS - SLOT_MS, &[sale(7, 10, 0)]);
    node.bought(7, Outcome::Accepted, 4, 700);
    node.sample(START_MS, &[sale(7, 6, 0)]);
    node.bought(7, Outcome::Ended, 2, 50);
    node.sample(END_MS, &[sale(7, 6, 4)]);
    node.bought(7, Outcome::Ended, 100, 50);
    node.sample(END_MS + 1_000, &[sale(7, 6, 4)]);
    let recording = node.recorder.recording(7).expect("recorded");
    assert_eq!(recording.begins_at_ms, begins_ms);
    let slot = |at_ms: i64| recording.fine[usize::try_from((at_ms - begins_ms) / SLOT_MS).expect("not before")];
    let counted = |at_ms, outcome: Outcome| slot(at_ms).outcomes[outcome as usize];
    assert_eq!(counted(START_MS - SLOT_MS, Outcome::NotStarted), 3);
    assert_eq!(counted(START_MS, Outcome::Accepted), 4);
    assert_eq!((counted(END_MS, Outcome::Ended), slot(END_MS).orders), (2, 4));
    assert_eq!(
        (
            slot(START_MS).stock_left,
            slot(START_MS).queue_depth,
            slot(START_MS).oldest_ms
        ),
        (6, 7, 40)
    );
    assert_eq!((slot(START_MS).requests, slot(START_MS).p99_us), (4, 800));
    let all: u32 = recording
        .fine
        .iter()
        .map(|slot| slot.outcomes[Outcome::Ended as usize])
        .sum();
    assert_eq!(all, 2, "what came after the end is not part of it");
}

#[test]
fn the_sales_that_began_last_are_kept() {
    let node = Node::new();
    for id in 1..=RECORDINGS_MAX as u64 + 4 {
        let begun = START_MS + i64::try_from(id).expect("small") * 1_000;
        let followed = Followed {
            starts_at_ms: begun,
            ..sale(id, 1, 0)
        };
        for slot in 0..3 {
            node.sample(begun + slot * SLOT_MS, &[followed]);
        }
    }
    let kept: Vec<_> = (1..=RECORDINGS_MAX as u64 + 4)
        .filter(|id| node.recorder.recording(*id).is_some())
        .collect();
    assert_eq!(kept, (5..=RECORDINGS_MAX as u64 + 4).collect::<Vec<_>>());
}
