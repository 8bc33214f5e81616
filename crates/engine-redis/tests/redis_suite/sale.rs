//! A sale that is open by the server's clock, for tests that break the server.

use std::time::{Duration, Instant};

use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{ActivityId, Claim, Conclusion, EpochMs, NotReady, Refusal, Window};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Answer, Condition, Confirmed, Counted, OpenOutcome, Opening, Reserved, Stock};

use crate::support::Running;

/// A sale of `left` units that is open by the server's clock.
pub fn opening(left: u64) -> Opening {
    let mut opening = Fixture::opening(Fixture::activity(), left);
    opening.opened.terms.window = Window {
        starts_at: EpochMs(1),
        ends_at: EpochMs(i64::from(u32::MAX) * 1_000),
    };
    opening
}

pub fn open(running: &Running, left: u64) -> ActivityId {
    open_sale(running, Fixture::activity(), left);
    Fixture::activity()
}

pub fn open_sale(running: &Running, activity: ActivityId, left: u64) {
    let mut opening = opening(left);
    opening.opened.terms.activity = activity;
    let outcome = running.block_on(running.engine.open(opening));
    assert_eq!(outcome, Ok(OpenOutcome::Created));
}

pub fn claim(running: &Running, claims: Vec<Claim>) -> Vec<Answer> {
    running.block_on(running.engine.claim(claims))
}

pub fn buy(running: &Running, user: &str) -> Answer {
    buy_of(running, Fixture::activity(), user)
}

pub fn buy_of(running: &Running, activity: ActivityId, user: &str) -> Answer {
    let claim_of = Claim {
        activity,
        ..Fixture::claim(user, 1, 1)
    };
    claim(running, vec![claim_of]).remove(0)
}

/// Confirms a state that is doubted for another server leads, as whoever heals it does where the ledger agrees.
pub fn vouch(running: &Running) {
    let activity = Fixture::activity();
    let Ok(Condition::Doubtful(figures)) = running.block_on(running.engine.condition(activity)) else {
        return;
    };
    let confirmed = Confirmed {
        activity,
        epoch: figures.epoch,
        next_sequence: 1,
        counted: Some(Counted {
            revision: figures.revision,
            left: figures.stock_left,
            applied_movement: figures.applied_movement,
        }),
        grace_ms: 0,
    };
    let _gone_again = running.block_on(running.engine.confirm(confirmed));
}

/// Asks with the same key until there is a ticket; what is said meanwhile must not be final.
pub fn buy_in_the_end(running: &Running, user: &str) -> Reserved {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        match buy(running, user) {
            Ok(reserved) => return reserved,
            Err(Refusal::Busy | Refusal::OutcomeUnknown | Refusal::NotReady(NotReady::StoreReadOnly)) => {}
            Err(Refusal::NotReady(NotReady::Recovering)) => vouch(running),
            Err(refusal) => panic!("{refusal:?}"),
        }
        assert!(Instant::now() < end, "not in time");
        std::thread::yield_now();
    }
}

/// A sale with a ticket in each place where one can be: `a` final, `b` retried, `c` dead, `d` leased, `e` fresh; five of ten units.
pub fn in_all_places(running: &Running) {
    open(running, 10);
    let claims = ["a", "b", "c", "d"].map(|user| Fixture::claim(user, 1, 1));
    let tickets: Vec<_> = claim(running, claims.into())
        .into_iter()
        .map(|answer| answer.expect("admitted").ticket)
        .collect();
    running.block_on(async {
        assert_eq!(running.engine.take(10).await.expect("answers").len(), 4);
        let not_before = EpochMs(i64::from(u32::MAX));
        let verdicts = [
            Verdict::Conclude(Conclusion::Succeeded),
            Verdict::Retry {
                attempts: 1,
                not_before,
            },
            Verdict::Bury {
                reason: "no such product".to_owned(),
            },
        ];
        let tickets = tickets.into_iter().zip(verdicts).collect();
        let settled_batch = 5;
        running
            .engine
            .record(Verdicts { tickets, settled_batch })
            .await
            .expect("recorded");
    });
    assert!(buy(running, "e").is_ok());
}

pub fn key(name: &str) -> String {
    key_of(Fixture::activity(), name)
}

pub fn key_of(activity: ActivityId, name: &str) -> String {
    format!("{{a:{activity}:0}}:{name}")
}
