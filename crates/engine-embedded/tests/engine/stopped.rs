//! What an operator stopped, and what a clock that went back would stop.

use seckill_queue::Queue;
use seckill_sale::Hold;
use seckill_stock::conformance::Fixture;
use seckill_stock::{Brake, Stock};

use crate::restart::fixture;
use crate::support::{Engine, block_on};

#[test]
fn what_an_operator_stopped_stays_so_over_restarts_and_snapshots() {
    block_on(async {
        let engine = Engine::start();
        fixture(&engine).open(5).await;
        let hold = Hold {
            held_at: Fixture::OPENS,
            resumes_at: Some(Fixture::ENDS),
        };
        engine.engine.hold(Fixture::activity(), hold).await.expect("held");
        let switches = Some("shut".to_owned());
        engine.engine.keep_switches(None, switches.clone()).await.expect("kept");
        let mut engine = engine.restart();
        for movement in 1..3 {
            let activity = Fixture::activity();
            engine
                .engine
                .apply_movement(activity, movement, 1)
                .await
                .expect("moved");
            assert_eq!(engine.engine.held(Fixture::activity()), Some(hold));
            assert!(fixture(&engine).buy("a", 1).await.is_err());
            assert_eq!(engine.engine.kept_switches().await, Ok(switches.clone()));
            engine = engine.compacted().restart();
        }
        engine
            .engine
            .release(Fixture::activity(), hold)
            .await
            .expect("released");
        let engine = engine.compacted().restart();
        fixture(&engine).bought("a", 1).await;
    });
}

#[test]
fn tickets_are_taken_again_when_the_clock_has_gone_back() {
    block_on(async {
        let engine = Engine::start();
        fixture(&engine).open(5).await;
        fixture(&engine).bought("a", 1).await;
        assert_eq!(engine.engine.take(9).await.expect("answers").len(), 1);
        engine.clock.set(Fixture::OPENS.plus(-3_600_000));
        engine.engine.ready().await;
        assert_eq!(engine.engine.take(9).await.expect("answers").len(), 1);
        assert_eq!(
            engine.engine.take(9).await.expect("answers").len(),
            0,
            "it is with a worker"
        );
    });
}
