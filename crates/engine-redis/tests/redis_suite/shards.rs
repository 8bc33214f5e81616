//! Sales of several shards: every unit is sold wherever its buyer belongs, nobody is told "sold out" while there are units, and a shard
//! that is lost stops the sale.

mod losses;
mod sums;
mod transfers;

use seckill_engine_redis::Engine;
use seckill_sale::{ActivityId, Claim, Refusal, Shards, UserId};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Answer, OpenOutcome, Opening, Stock};

use crate::sale::opening;
use crate::support::Running;

pub fn split(left: u64, shards: u64) -> Opening {
    Opening {
        shards: Shards::new(shards).expect("in range"),
        ..opening(left)
    }
}

pub fn open_split(running: &Running, left: u64, shards: u64) -> ActivityId {
    let outcome = running.block_on(running.engine.open(split(left, shards)));
    assert_eq!(outcome, Ok(OpenOutcome::Created));
    Fixture::activity()
}

/// So many users who belong to one of `wanted` of `shards`, in turn.
pub fn users(count: usize, shards: u64, wanted: &[u64]) -> Vec<String> {
    let shards = Shards::new(shards).expect("in range");
    let belongs = |name: &String| wanted.contains(&shards.of(&UserId::new(name).expect("valid")));
    (0..).map(|n| format!("u{n}")).filter(belongs).take(count).collect()
}

pub fn claims(users: &[String]) -> Vec<Claim> {
    users.iter().map(|user| Fixture::claim(user, 1, 1)).collect()
}

pub fn sold(answers: &[Answer]) -> usize {
    answers.iter().flatten().count()
}

/// Units left, accepted, and tickets that wait.
pub async fn counted(node: &Engine) -> (u64, u64, u64) {
    let figures = node
        .figures(Fixture::activity())
        .await
        .expect("answers")
        .expect("a state");
    (figures.stock_left, figures.accepted, figures.queued_tickets)
}

#[test]
fn a_hundred_buyers_of_three_shards_get_the_hundred_units_of_ten() {
    let running = Running::start(None);
    open_split(&running, 100, 10);
    let buyers = users(100, 10, &[1, 4, 7]);
    let answers = running.block_on(running.engine.claim(claims(&buyers)));
    assert_eq!(sold(&answers), 100, "{answers:?}");
    let mut sequences: Vec<_> = answers
        .iter()
        .flatten()
        .map(|reserved| reserved.ticket.sequence)
        .collect();
    sequences.sort_unstable();
    sequences.dedup();
    assert_eq!(sequences.len(), 100);
    let late = users(101, 10, &[1, 4, 7]).split_off(100);
    let answers = running.block_on(running.engine.claim(claims(&late)));
    assert_eq!(answers, [Err(Refusal::SoldOut)]);
    assert_eq!(running.block_on(counted(&running.engine)), (0, 100, 100));
}

#[test]
fn the_last_units_of_other_shards_are_sold_at_the_first_attempt() {
    let running = Running::start(None);
    open_split(&running, 400, 4);
    for user in users(300, 4, &[2]).chunks(64) {
        let answers = running.block_on(running.engine.claim(claims(user)));
        assert_eq!(sold(&answers), user.len(), "{answers:?}");
    }
    for user in users(400, 4, &[2]).split_off(300) {
        let answers = running.block_on(running.engine.claim(claims(&[user])));
        assert_eq!(sold(&answers), 1, "{answers:?}");
    }
    assert_eq!(running.block_on(counted(&running.engine)), (0, 400, 400));
}

#[test]
fn several_units_are_put_together_from_shards_that_have_one_each() {
    let running = Running::start(None);
    open_split(&running, 4, 4);
    let two = |user: &str| vec![Fixture::claim(user, 1, 2)];
    for user in ["a", "b"] {
        let answers = running.block_on(running.engine.claim(two(user)));
        assert_eq!(sold(&answers), 1, "{answers:?}");
    }
    assert_eq!(running.block_on(counted(&running.engine)), (0, 4, 2));
}

/// Three nodes, more buyers than units, all shards, everybody asks until he has an answer that stays.
#[test]
fn nodes_that_race_for_the_last_units_sell_them_all_and_never_say_sold_out_too_early() {
    let running = Running::start(None);
    open_split(&running, 90, 6);
    let nodes = ["x", "y", "z"].map(|name| running.another(name));
    let buyers = users(120, 6, &[0, 3]);
    running.block_on(async {
        let mut tasks = Vec::new();
        for (node, part) in nodes.into_iter().zip(buyers.chunks(40)) {
            let part = part.to_vec();
            tasks.push(tokio::spawn(async move {
                let (mut waiting, mut sold_out) = (part, 0);
                while !waiting.is_empty() {
                    let size = waiting.len().min(7);
                    let asked: Vec<_> = waiting.drain(..size).collect();
                    for (user, answer) in asked.iter().zip(node.claim(claims(&asked)).await) {
                        match answer {
                            Ok(_) => {}
                            Err(Refusal::SoldOut) => sold_out += 1,
                            Err(Refusal::Busy) => waiting.push(user.clone()),
                            Err(refusal) => panic!("{refusal:?}"),
                        }
                    }
                }
                sold_out
            }));
        }
        let mut sold_out = 0;
        for task in tasks {
            sold_out += task.await.expect("no panic");
        }
        assert_eq!(sold_out, 30);
        assert_eq!(counted(&running.engine).await, (0, 90, 90));
    });
}

#[test]
fn a_node_that_has_never_heard_of_a_sale_finds_its_shards() {
    let running = Running::start(None);
    let late = running.another("late");
    open_split(&running, 40, 8);
    let buyers = users(40, 8, &[0, 1, 2, 3, 4, 5, 6, 7]);
    let answers = running.block_on(late.claim(claims(&buyers)));
    assert_eq!(sold(&answers), 40, "{answers:?}");
    for (user, answer) in buyers.iter().zip(answers) {
        let other = running.another("other");
        let user = UserId::new(user).expect("valid");
        let buyer = running
            .block_on(other.buyer(Fixture::activity(), &user))
            .expect("answers");
        assert_eq!(
            buyer.map(|buyer| buyer.ticket),
            answer.ok().map(|reserved| reserved.ticket)
        );
        if user.as_str() == "u3" {
            break;
        }
    }
}
