//! Several nodes on one server, and the server's own clock.

use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{Claim, Clock, Conclusion, EpochMs, Refusal, SystemClock, Window};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Opening, Stock};

use crate::support::Running;

fn opening(left: u64, window: Window) -> Opening {
    let mut opening = Fixture::opening(Fixture::activity(), left);
    opening.opened.terms.window = window;
    opening
}

/// Open for an hour around now.
fn open_window() -> Window {
    let now = SystemClock.now();
    Window {
        starts_at: now.plus(-1_800_000),
        ends_at: now.plus(1_800_000),
    }
}

fn claims(node: &str, count: u64) -> Vec<Claim> {
    (0..count)
        .map(|n| Fixture::claim(&format!("{node}-{n}"), 1, 1))
        .collect()
}

#[test]
fn nodes_together_sell_exactly_what_there_is() {
    let running = Running::start(None);
    let nodes = ["x", "y", "z"].map(|name| (name, running.another(name)));
    running.block_on(async {
        running.engine.open(opening(700, open_window())).await.expect("opened");
        let mut tasks = Vec::new();
        for (name, node) in nodes {
            tasks.push(tokio::spawn(async move { node.claim(claims(name, 600)).await }));
        }
        let mut answers = Vec::new();
        for task in tasks {
            answers.extend(task.await.expect("no panic"));
        }
        let mut sequences: Vec<_> = answers
            .iter()
            .flatten()
            .map(|reserved| reserved.ticket.sequence)
            .collect();
        sequences.sort_unstable();
        assert_eq!(sequences, (1..=700).collect::<Vec<_>>());
        let refused = answers.iter().filter_map(|answer| answer.as_ref().err());
        assert!(refused.clone().all(|refusal| *refusal == Refusal::SoldOut));
        assert_eq!(refused.count(), 1_100);
    });
}

#[test]
fn a_worker_on_another_node_wakes_up_and_no_ticket_goes_to_two() {
    let running = Running::start(None);
    let opened = running.block_on(running.engine.open(opening(500, open_window())));
    opened.expect("opened");
    let (one, two) = (running.another("one"), running.another("two"));
    running.block_on(async {
        let ready = tokio::spawn({
            let one = one.clone();
            async move { one.ready().await }
        });
        assert_eq!(
            running.engine.claim(claims("u", 300)).await.iter().flatten().count(),
            300
        );
        ready.await.expect("no panic");
        let mut taken = Vec::new();
        while let (Ok(ours), Ok(theirs)) = tokio::join!(one.take(64), two.take(64))
            && !(ours.is_empty() && theirs.is_empty())
        {
            taken.extend(ours.into_iter().chain(theirs).map(|delivery| delivery.ticket));
        }
        taken.sort_unstable();
        let sequences: Vec<_> = taken.iter().map(|ticket| ticket.sequence).collect();
        assert_eq!(sequences, (1..=300).collect::<Vec<_>>());
        let tickets = taken
            .into_iter()
            .map(|ticket| (ticket, Verdict::Conclude(Conclusion::Succeeded)));
        let tickets: Vec<_> = tickets.collect();
        for part in tickets.chunks(100) {
            let tickets = part.to_vec();
            let settled_batch = 1;
            two.record(Verdicts { tickets, settled_batch }).await.expect("recorded");
        }
        let figures = one
            .figures(Fixture::activity())
            .await
            .expect("answers")
            .expect("a state");
        assert_eq!(
            (figures.queued_tickets, figures.leased_tickets, figures.settled_up_to),
            (0, 0, 300)
        );
        assert_eq!(
            (figures.queued, figures.dead, figures.accepted, figures.stock_left),
            (0, 0, 300, 200)
        );
    });
}

#[test]
fn the_servers_clock_decides_where_none_is_given() {
    let running = Running::start(None);
    running.block_on(async {
        let starts_at = SystemClock.now().plus(3_600_000);
        let ends_at = starts_at.plus(3_600_000);
        let window = Window { starts_at, ends_at };
        running.engine.open(opening(5, window)).await.expect("opened");
        let answer = running.engine.claim(claims("a", 1)).await.remove(0);
        assert_eq!(answer, Err(Refusal::NotStarted { starts_at }));
        let past = Window {
            starts_at: EpochMs(1),
            ends_at: SystemClock.now().plus(-1),
        };
        let change = |window| seckill_sale::Terms {
            window,
            ..Fixture::terms(Fixture::activity())
        };
        running.engine.change(change(past)).await.expect("done");
        assert_eq!(
            running.engine.claim(claims("a", 1)).await.remove(0),
            Err(Refusal::Ended)
        );
        running.engine.change(change(open_window())).await.expect("done");
        let before = SystemClock.now();
        let reserved = running.engine.claim(claims("a", 1)).await.remove(0).expect("admitted");
        assert!(before <= reserved.accepted_at && reserved.accepted_at <= SystemClock.now());
        let off = running.engine.now().since(SystemClock.now()).abs();
        assert!(
            off <= running.engine.clock_uncertainty_ms() + 1,
            "{off} ms off on one machine"
        );
    });
}

#[test]
fn every_buyer_is_on_a_page() {
    let running = Running::start(None);
    running.block_on(async {
        running
            .engine
            .open(opening(3_000, open_window()))
            .await
            .expect("opened");
        for part in claims("u", 2_500).chunks(256) {
            running.engine.claim(part.to_vec()).await;
        }
        let (mut users, mut page) = (Vec::new(), 0);
        while let Some(buyers) = running
            .engine
            .buyers_page(Fixture::activity(), page)
            .await
            .expect("answers")
        {
            users.extend(buyers.into_iter().map(|buyer| buyer.user));
            page += 1;
        }
        users.sort_unstable();
        users.dedup();
        assert_eq!(users.len(), 2_500);
        let leap = running.engine.buyers_page(Fixture::activity(), page - 1).await;
        assert!(leap.expect("answers").is_some(), "a page asked for out of turn");
    });
}

#[test]
fn a_worker_that_starts_again_under_its_name_gets_back_what_it_had_and_nobody_elses() {
    let running = Running::start(None);
    let opened = running.block_on(running.engine.open(opening(10, open_window())));
    opened.expect("opened");
    let (one, two) = (running.another("one"), running.another("two"));
    for (node, claimed) in [(&one, "a"), (&two, "b")] {
        let taken = running.block_on(async {
            running.engine.claim(claims(claimed, 2)).await;
            node.take(2).await.expect("answers")
        });
        assert_eq!(taken.len(), 2);
    }
    drop(one);
    let one = running.another("one");
    let again = running.block_on(one.take(10)).expect("answers");
    let users: Vec<_> = again
        .iter()
        .map(|delivery| (delivery.user.as_str(), delivery.deliveries))
        .collect();
    assert_eq!(users, [("a-0", 2), ("a-1", 2)]);
    let figures = running
        .block_on(one.figures(Fixture::activity()))
        .expect("answers")
        .expect("a state");
    assert_eq!((figures.leased_tickets, figures.queued_tickets), (4, 4));
}
