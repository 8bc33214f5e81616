//! Space that the units on sale may need is taken before anybody asks for them.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use seckill_engine_embedded::storage::simulated::Simulated;
use seckill_engine_embedded::{Options, Sequencer, open};
use seckill_sale::{InstallationId, ManualClock};
use seckill_stock::Stock;
use seckill_stock::conformance::Fixture;

use crate::support::block_on;

/// Puts the command into the inbox, lets the sequencer do it, and gives the answer.
async fn done<T>(sequencer: &mut Sequencer<Simulated>, asked: impl Future<Output = T>) -> T {
    let mut asked = pin!(asked);
    let at_once = poll_fn(|context| Poll::Ready(asked.as_mut().poll(context))).await;
    match at_once {
        Poll::Ready(answer) => answer,
        Poll::Pending => {
            sequencer.step();
            asked.await
        }
    }
}

#[test]
fn rush_for_all_units_needs_no_new_space_once_the_sequencer_had_nothing_to_do() {
    const UNITS: u64 = 200_000;
    const BATCH: u64 = 250;
    block_on(async {
        let disk = Simulated::new(1);
        let clock = Arc::new(ManualClock::at(Fixture::OPENS));
        let opened = open(disk.clone(), Options::default(), InstallationId([1; 16]), clock).expect("the journal opens");
        let (engine, mut sequencer) = (opened.engine, opened.sequencer);
        let opening = Fixture::opening(Fixture::activity(), UNITS);
        done(&mut sequencer, engine.open(opening)).await.expect("open");
        let mut operations = 0;
        while operations != disk.operations() {
            operations = disk.operations();
            assert!(!sequencer.step());
        }
        let used = disk.used_bytes();
        for batch in 0..UNITS / BATCH {
            let users = (batch * BATCH..(batch + 1) * BATCH).map(|user| format!("user-{user:012}"));
            let claims = users.map(|user| Fixture::claim(&user, 1, 1)).collect();
            let answers = done(&mut sequencer, engine.claim(claims)).await;
            assert!(answers.iter().all(Result::is_ok));
        }
        assert_eq!(disk.used_bytes(), used);
    });
}
