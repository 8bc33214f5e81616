//! What is left of a broken state is told, and kept until the next is built; tickets that somebody still has are adopted.

use seckill_queue::{Adopted, Adoption, Queue};
use seckill_sale::{Delivery, Restored, Shards, TicketState};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Condition, GivenUp, OpenOutcome, Stock};

use crate::healing::{RECOVERING, condition, epoch};
use crate::sale::{buy, in_all_places, key, open, opening};
use crate::support::Running;

fn give_up(running: &Running, number: u64) -> GivenUp {
    let given_up = running.engine.give_up(Fixture::activity(), Shards::ONE, epoch(number));
    running.block_on(given_up).expect("answers")
}

fn remains(running: &Running, number: u64) -> Vec<Restored> {
    match give_up(running, number) {
        GivenUp::Remains(buyers) => buyers,
        other => panic!("{other:?}"),
    }
}

fn summary(buyers: &[Restored]) -> Vec<(String, u64, TicketState)> {
    let one = |buyer: &Restored| (buyer.user.as_str().to_owned(), buyer.sequence, buyer.state);
    buyers.iter().map(one).collect()
}

#[test]
fn whichever_key_is_lost_the_others_still_name_everybody_who_waits() {
    for (name, harm) in ["meta", "buyers", "fresh", "back", "due", "order", "dead"]
        .into_iter()
        .flat_map(|name| [(name, "DEL"), (name, "SET")])
    {
        let running = Running::start(None);
        in_all_places(&running);
        running.redis.command(&["DEL", &key(name)]).expect("answers");
        if harm == "SET" {
            running.redis.command(&["SET", &key(name), "-3"]).expect("answers");
        }
        assert_eq!(condition(&running), Condition::Broken, "{harm} {name}");
        let known = remains(&running, 2);
        // Final ones are in the ledger; those in no queue are told by their buyers alone.
        let waiting: Vec<_> = summary(&known).into_iter().filter(|(user, ..)| user != "a").collect();
        let state = |user: &str| {
            waiting
                .iter()
                .find(|(name, ..)| name == user)
                .map(|(_, sequence, state)| (*sequence, *state))
        };
        assert_eq!(state("b"), Some((2, TicketState::Queued)), "{harm} {name}");
        assert_eq!(state("c").map(|(sequence, _)| sequence), Some(3), "{harm} {name}");
        assert_eq!(state("d"), Some((4, TicketState::Queued)), "{harm} {name}");
        assert_eq!(state("e"), Some((5, TicketState::Queued)), "{harm} {name}");
        // Whoever asks again after a crash is told the same, until the next state is built.
        assert_eq!(remains(&running, 3), known, "{harm} {name}");
        let mut next = opening(2);
        next.opened.epoch = epoch(2);
        assert!(
            running.block_on(running.engine.open(next.clone())).is_err(),
            "another builder has it"
        );
        next.opened.epoch = epoch(3);
        next.buyers = known;
        assert_eq!(running.block_on(running.engine.open(next)), Ok(OpenOutcome::Created));
        assert_eq!(give_up(&running, 4), GivenUp::Sound);
        let left = running.redis.command(&["KEYS", "*:old"]).expect("answers");
        assert!(left.starts_with("*0"), "{left}");
        buy(&running, "new").expect("admitted");
    }
}

#[test]
fn an_entry_that_cannot_be_read_stops_the_sale_before_anything_is_written() {
    let spoiled: [(&str, &str, &[&str]); 3] = [
        ("back", "000000000000002", &["abc", "5.5", "-3", "9e18"]),
        ("buyers", "new", &["abc", "5.5", "-3", "9e18"]),
        ("dead", "000000000000003", &["abc"]),
    ];
    for (name, field, texts) in spoiled {
        for text in texts {
            let running = Running::start(None);
            in_all_places(&running);
            if name == "buyers" {
                running.redis.command(&["HDEL", &key(name), "b"]).expect("answers");
            }
            running
                .redis
                .command(&["HSET", &key(name), field, text])
                .expect("answers");
            running
                .redis
                .command(&["ZADD", &key("due"), "0", "000000000000002"])
                .expect("answers");
            let left = running.redis.command(&["HGET", &key("meta"), "left"]).expect("answers");
            let taken = running.block_on(running.engine.take(10));
            let bought = buy(&running, "new");
            match name {
                "back" => assert!(taken.is_err(), "{name} {text}: {taken:?}"),
                "buyers" => assert_eq!(bought, Err(RECOVERING), "{name} {text}"),
                _ => {}
            }
            if name != "dead" {
                assert_eq!(condition(&running), Condition::Broken, "{name} {text}");
                assert_eq!(
                    running.redis.command(&["HGET", &key("meta"), "left"]).expect("answers"),
                    left
                );
                let known = remains(&running, 2);
                assert!(
                    summary(&known)
                        .iter()
                        .any(|(user, sequence, _)| (user.as_str(), *sequence) == ("b", 2))
                );
            }
        }
    }
}

#[test]
fn a_builder_that_falls_silent_is_followed_by_another() {
    let clock = std::sync::Arc::new(seckill_sale::ManualClock::at(Fixture::OPENS));
    let running = Running::start(Some(clock.clone()));
    running
        .block_on(running.engine.open(Fixture::opening(Fixture::activity(), 3)))
        .expect("opened");
    running.redis.command(&["DEL", &key("meta")]).expect("answers");
    remains(&running, 2);
    assert_eq!(condition(&running), Condition::InHand);
    clock.advance(3_001);
    assert_eq!(condition(&running), Condition::Broken);
}

#[test]
fn a_ticket_of_a_lost_state_is_adopted_once_and_only_where_a_unit_is_left() {
    let running = Running::start(None);
    open(&running, 3);
    for user in ["a", "b", "c"] {
        buy(&running, user).expect("admitted");
    }
    let held = running.block_on(running.engine.take(10)).expect("answers");
    running.redis.flush_all();
    assert!(
        running
            .block_on(running.engine.adopt(held.clone(), Adoption::Waiting))
            .is_err()
    );
    let mut next = opening(2);
    (next.opened.epoch, next.opened.next_sequence) = (epoch(2), 1_000);
    assert_eq!(running.block_on(running.engine.open(next)), Ok(OpenOutcome::Created));
    assert_eq!(buy(&running, "b").map(|reserved| reserved.ticket.sequence), Ok(1_000));
    let adopt = |tickets: &[Delivery], adoption| {
        running
            .block_on(running.engine.adopt(tickets.to_vec(), adoption))
            .expect("answers")
    };
    for _ in 0..2 {
        assert_eq!(
            adopt(&held, Adoption::Waiting),
            [Adopted::Waits, Adopted::Void, Adopted::NoUnit]
        );
    }
    let failed = Adoption::Failed(seckill_sale::FailureReason::StoreOversold);
    assert_eq!(adopt(&held[2..], failed), [Adopted::Known]);
    assert_eq!(adopt(&held[2..], Adoption::Waiting), [Adopted::Known]);
    let figures = running
        .block_on(running.engine.figures(Fixture::activity()))
        .expect("answers")
        .expect("a state");
    assert_eq!(
        (
            figures.stock_left,
            figures.accepted,
            figures.queued,
            figures.next_sequence
        ),
        (0, 3, 2, 1_001)
    );
    let taken = running.block_on(running.engine.take(10)).expect("answers");
    let tickets: Vec<_> = taken.iter().map(|delivery| delivery.ticket).collect();
    assert!(tickets.contains(&held[0].ticket) && tickets.len() == 2, "{tickets:?}");
}
