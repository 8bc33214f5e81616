//! One shard lost, half built, or asked for under another number: the sale is not used, and nothing of it is sold again.

use seckill_queue::Queue;
use seckill_sale::{Epoch, NotReady, Refusal};
use seckill_stock::{Error, OpenOutcome, Stock};

use super::{claims, counted, open_split, sold, split, users};
use crate::support::Running;

fn keys(shard: u64) -> Vec<String> {
    ["meta", "buyers", "fresh", "back", "due", "order", "dead"]
        .map(|name| format!("{{a:7:{shard}}}:{name}"))
        .into()
}

fn command(running: &Running, words: &[&str]) -> String {
    running.owner(words[1]).command(words).expect("answers")
}

fn delete(running: &Running, shard: u64) {
    let keys = keys(shard);
    let words: Vec<_> = ["DEL"].into_iter().chain(keys.iter().map(String::as_str)).collect();
    assert!(!command(running, &words).starts_with(":0"));
}

const RECOVERING: Result<(), Error> = Err(Error::NotReady(NotReady::Recovering));
const UNSAFE: Result<(), Error> = Err(Error::NotReady(NotReady::StoreUnsafe));

#[test]
fn a_sale_that_lost_one_shard_admits_nobody_anywhere() {
    for lost in [0, 2] {
        let running = Running::start(None);
        let activity = open_split(&running, 100, 4);
        let buyers = users(10, 4, &[0, 1, 2, 3]);
        assert_eq!(sold(&running.block_on(running.engine.claim(claims(&buyers)))), 10);
        delete(&running, lost);
        let refused = Err(Refusal::NotReady(NotReady::Recovering));
        let new = |shard: u64| users(20, 4, &[shard]).split_off(18);
        let late = running.another("late");
        for node in [&running.engine, &late] {
            // Whoever comes to the lost shard finds out; then nobody is admitted to any.
            for shard in [lost, 1, 3] {
                let answers = running.block_on(node.claim(claims(&new(shard))));
                assert!(answers.iter().all(|answer| *answer == refused), "{answers:?}");
            }
            let figures = running.block_on(node.figures(activity)).map(|_| ());
            assert_eq!(figures, RECOVERING);
        }
        let reopened = running.block_on(running.engine.open(split(100, 4)));
        assert_eq!(reopened.map(|_| ()), UNSAFE, "its units would be sold again");
    }
}

#[test]
fn a_sale_that_lost_one_shard_is_built_anew_where_its_epoch_is_named() {
    let running = Running::start(None);
    open_split(&running, 100, 4);
    delete(&running, 3);
    let mut anew = split(7, 4);
    anew.opened.epoch = Epoch::new(2).expect("in range");
    anew.replaces = Some(Epoch::FIRST);
    let outcome = running.block_on(running.engine.open(anew));
    assert_eq!(outcome, Ok(OpenOutcome::Created));
    let buyers = users(8, 4, &[0, 1, 2, 3]);
    let answers = running.block_on(running.engine.claim(claims(&buyers)));
    assert_eq!(sold(&answers), 7, "{answers:?}");
}

#[test]
fn an_emptied_server_has_no_sale_of_several_shards_either() {
    let running = Running::start(None);
    let activity = open_split(&running, 10, 4);
    running.flush_all();
    let answers = running.block_on(running.engine.claim(claims(&users(4, 4, &[1, 3]))));
    assert!(
        answers
            .iter()
            .all(|answer| *answer == Err(Refusal::NotReady(NotReady::NotPreheated))),
        "{answers:?}"
    );
    assert_eq!(running.block_on(running.engine.figures(activity)), Ok(None));
    assert_eq!(running.block_on(running.engine.take(10)), Ok(Vec::new()));
    open_split(&running, 10, 4);
    assert_eq!(running.block_on(counted(&running.engine)), (10, 0, 0));
}

#[test]
fn an_open_sale_keeps_the_number_of_its_shards() {
    let running = Running::start(None);
    open_split(&running, 10, 4);
    for (other, replaces) in [(1, None), (8, None), (2, Some(Epoch::FIRST)), (1, Some(Epoch::FIRST))] {
        let mut changed = split(10, other);
        changed.replaces = replaces;
        let refused = running.block_on(running.engine.open(changed)).map(|_| ());
        assert!(refused.is_err(), "{other} shards");
    }
    let again = running.block_on(running.engine.open(split(10, 4)));
    assert_eq!(again, Ok(OpenOutcome::Exists { epoch: Epoch::FIRST }));
    assert_eq!(running.block_on(counted(&running.engine)), (10, 0, 0));
}

#[test]
fn a_sale_is_built_when_all_its_shards_are() {
    let running = Running::start(None);
    let activity = open_split(&running, 10, 4);
    // As a builder leaves it who dies before the last step of shards 1 to 3.
    for shard in 1..4 {
        command(&running, &["HSET", &keys(shard)[0], "built", "2"]);
    }
    let late = running.another("late");
    assert_eq!(
        running.block_on(counted(&late)),
        (10, 0, 0),
        "the last step is anybody's"
    );
    // As he leaves it who dies before the first is built.
    for shard in 0..4 {
        command(&running, &["HSET", &keys(shard)[0], "built", "2"]);
    }
    let recovering = Err(Error::NotReady(NotReady::Recovering));
    assert_eq!(running.block_on(late.figures(activity)), recovering);
    let answers = running.block_on(late.claim(claims(&users(4, 4, &[0, 1, 2, 3]))));
    assert_eq!(sold(&answers), 0, "{answers:?}");
    open_split(&running, 6, 4);
    assert_eq!(running.block_on(counted(&running.engine)), (6, 0, 0));
}

#[test]
fn a_shard_of_another_build_stops_the_sale() {
    let running = Running::start(None);
    let activity = open_split(&running, 10, 4);
    command(&running, &["HSET", &keys(2)[0], "builder", "somebody-else"]);
    let late = running.another("late");
    assert_eq!(running.block_on(late.figures(activity)).map(|_| ()), UNSAFE);
}

#[test]
fn two_that_open_a_split_sale_at_once_make_one_state() {
    for _ in 0..5 {
        let running = Running::start(None);
        let other = running.another("other");
        let (one, two) =
            running.block_on(async { tokio::join!(running.engine.open(split(20, 4)), other.open(split(20, 4))) });
        if !matches!((one, two), (Ok(_), Ok(_))) {
            // Who had to give way hears that somebody is at it; who asks again finds the state, or builds it.
            assert!(one.is_ok() || two.is_ok() || running.block_on(running.engine.open(split(20, 4))).is_ok());
        }
        assert_eq!(running.block_on(counted(&other)), (20, 0, 0), "{one:?} {two:?}");
    }
}
