//! A sale of several shards that may be old: confirmed together, or not at all.

use seckill_sale::{NotReady, Refusal};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Condition, Confirmed, Counted, Stock};

use crate::healing::{condition, epoch};
use crate::shards::{claims, counted, open_split, sold, users};
use crate::support::Running;

const HEAD: &str = include_str!("../../lua/state.lua");
const TRANSFER: &str = include_str!("../../lua/transfer.lua");

fn confirmed(number: u64, counted: Option<Counted>) -> Confirmed {
    Confirmed {
        activity: Fixture::activity(),
        epoch: epoch(number),
        next_sequence: 1_000,
        counted,
        grace_ms: 0,
    }
}

fn doubted(running: &Running) -> Counted {
    for shard in 0..4 {
        let meta = format!("{{a:7:{shard}}}:meta");
        let answer = running.owner(&meta).command(&["HSET", &meta, "server", "another"]);
        assert!(answer.expect("answers").starts_with(":0"));
    }
    let Condition::Doubtful(figures) = condition(running) else {
        panic!("{:?}", condition(running));
    };
    Counted {
        revision: figures.revision,
        left: figures.stock_left,
        applied_movement: figures.applied_movement,
    }
}

fn is_confirmed(running: &Running, confirmed: Confirmed) -> bool {
    running.block_on(running.engine.confirm(confirmed)).expect("answers")
}

#[test]
fn shards_are_confirmed_as_they_were_counted_together() {
    let running = Running::start(None);
    open_split(&running, 20, 4);
    let buyers = users(8, 4, &[0, 1, 2, 3]);
    assert_eq!(sold(&running.block_on(running.engine.claim(claims(&buyers[..4])))), 4);
    let counted_now = doubted(&running);
    assert_eq!(counted_now.left, 16);
    let answers = running.block_on(running.engine.claim(claims(&buyers[4..])));
    let recovering = Err(Refusal::NotReady(NotReady::Recovering));
    assert!(answers.iter().all(|answer| *answer == recovering), "{answers:?}");
    let others = [
        Counted {
            left: 15,
            ..counted_now
        },
        Counted {
            left: 17,
            ..counted_now
        },
        Counted {
            applied_movement: 5,
            ..counted_now
        },
        Counted {
            revision: counted_now.revision - 1,
            ..counted_now
        },
    ];
    for other in others {
        assert!(!is_confirmed(&running, confirmed(2, Some(other))), "{other:?}");
    }
    assert!(matches!(condition(&running), Condition::Doubtful(_)));
    assert!(is_confirmed(&running, confirmed(2, Some(counted_now))));
    assert_eq!(condition(&running), Condition::Sound { epoch: Some(epoch(2)) });
    let answers = running.block_on(running.engine.claim(claims(&buyers[4..])));
    assert_eq!(sold(&answers), 4, "{answers:?}");
    let tickets = answers.iter().flatten().map(|reserved| reserved.ticket);
    assert!(
        tickets
            .clone()
            .all(|ticket| ticket.epoch == epoch(2) && 1_000 <= ticket.sequence)
    );
    assert_eq!(running.block_on(counted(&running.engine)), (12, 8, 8));
}

#[test]
fn a_confirmation_that_ended_halfway_is_followed_by_another() {
    let running = Running::start(None);
    open_split(&running, 20, 4);
    let first = doubted(&running);
    assert!(is_confirmed(&running, confirmed(2, Some(first))));
    for shard in 2..4 {
        let meta = format!("{{a:7:{shard}}}:meta");
        let harmed = ["HSET", &meta, "server", "another", "epoch", "1"];
        running.owner(&meta).command(&harmed).expect("answers");
    }
    let Condition::Doubtful(figures) = condition(&running) else {
        panic!("{:?}", condition(&running));
    };
    assert_eq!(figures.epoch, epoch(2), "the next one has to be past it");
    let counted_now = Counted {
        revision: figures.revision,
        left: figures.stock_left,
        applied_movement: 0,
    };
    assert!(is_confirmed(&running, confirmed(3, Some(counted_now))));
    assert_eq!(condition(&running), Condition::Sound { epoch: Some(epoch(3)) });
}

/// Whoever read the giver before it went back, and sends its units on behind that, would make them twice.
#[test]
fn a_step_of_a_transfer_that_began_before_a_confirmation_comes_to_nothing() {
    let running = Running::start(None);
    open_split(&running, 8, 4);
    let field = |shard: u64, name: &str| {
        let meta = format!("{{a:7:{shard}}}:meta");
        let said = running.owner(&meta).command(&["HGET", &meta, name]).expect("answers");
        said.lines().nth(1).expect("a field").to_owned()
    };
    let builder = field(0, "builder");
    let script = format!("#!lua flags=allow-oom\n{HEAD}{TRANSFER}");
    let step = |shard: u64, own: &[&str]| {
        let names = ["meta", "buyers", "fresh", "back", "due", "order", "dead"];
        let keys: Vec<_> = names.iter().map(|name| format!("{{a:7:{shard}}}:{name}")).collect();
        let keys: Vec<_> = keys.iter().map(String::as_str).collect();
        let words = [&["EVAL", &script, "7"], &keys[..], &["", "0 4"], own].concat();
        running.owner(keys[0]).command(&words).expect("answers")
    };
    assert!(is_confirmed(&running, confirmed(2, None)));
    let credit = |epoch| step(3, &["credit", "1", "0", "2", &builder, epoch]);
    assert!(credit("1").contains("older"));
    assert_eq!(field(3, "left"), "2");
    assert!(credit("2").contains("credited"));
    assert_eq!(field(3, "left"), "4");
    assert!(step(0, &["debit", "3", "1", "0", ""]).contains("debited"));
    step(0, &["clear", "1", &builder, "1"]);
    assert_eq!(field(0, "out"), "1 3 1", "another debit has that name now");
    step(0, &["clear", "1", &builder, "2"]);
    assert_eq!(field(0, "out"), "");
}
