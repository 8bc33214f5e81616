//! Permits over restarts and snapshots, and beside claims.

use std::task::{Context, Poll, Waker};

use seckill_sale::EpochMs;
use seckill_stock::conformance::Fixture;
use seckill_stock::{Error, Stock};

use crate::restart::fixture;
use crate::support::{Engine, block_on};

const UNTIL: EpochMs = EpochMs(Fixture::OPENS.0 + 60_000);

fn permit(engine: &Engine, key: u8, max: u32) -> bool {
    block_on(engine.engine.permit([key; 16], max, UNTIL)).expect("answers")
}

#[test]
fn permits_that_were_taken_are_taken_after_a_restart_and_in_a_snapshot() {
    let engine = Engine::start();
    block_on(fixture(&engine).open(1));
    assert!(permit(&engine, 1, 1) && permit(&engine, 2, 3) && permit(&engine, 2, 3));
    let engine = engine.restart();
    assert!(!permit(&engine, 1, 1));
    let engine = engine.compacted();
    assert!(!permit(&engine, 1, 1));
    assert!(permit(&engine, 2, 3) && !permit(&engine, 2, 3));
    let engine = engine.compacted();
    assert!(!permit(&engine, 1, 1) && !permit(&engine, 2, 3));
    engine.clock.set(UNTIL);
    let later = |engine: &Engine| block_on(engine.engine.permit([1; 16], 1, UNTIL.plus(1)));
    assert_eq!(later(&engine), Ok(true));
    assert_eq!(later(&engine.restart()), Ok(false));
}

#[test]
fn a_permit_taken_while_the_journal_is_compacted_stays_taken() {
    let engine = Engine::start();
    assert!(permit(&engine, 1, 1));
    let engine = engine.compacted_beside(|engine| assert!(permit(engine, 2, 1)));
    let engine = engine.restart();
    assert!(!permit(&engine, 1, 1) && !permit(&engine, 2, 1));
}

/// The disk hangs meanwhile, so that everything waits.
#[test]
fn permits_that_wait_leave_room_for_claims() {
    let engine = Engine::start();
    block_on(fixture(&engine).open(1));
    engine.hang(true);
    let mut context = Context::from_waker(Waker::noop());
    let (mut busy, mut waiting) = (0, Vec::new());
    for n in 0..3_000_u16 {
        let mut key = [0; 16];
        key[..2].copy_from_slice(&n.to_be_bytes());
        let mut asked = engine.engine.permit(key, 1, UNTIL);
        match asked.as_mut().poll(&mut context) {
            Poll::Pending => waiting.push(asked),
            Poll::Ready(answer) => {
                assert_eq!(answer, Err(Error::Unavailable));
                busy += 1;
            }
        }
    }
    let mut claim = engine.engine.claim(vec![Fixture::claim("a", 1, 1)]);
    assert!(claim.as_mut().poll(&mut context).is_pending(), "it is not refused");
    engine.hang(false);
    assert!(block_on(claim)[0].is_ok());
    for asked in waiting {
        assert_eq!(block_on(asked), Ok(true));
    }
    assert!(0 < busy);
}
