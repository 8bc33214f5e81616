//! The simulator's own promises: a seed is a run, the product passes, and every planted fault is found.

use seckill_sim::{Fault, Plan, run};

/// Seeds of the run that must find nothing.
const SEEDS: u64 = 120;

/// Seeds within which a planted fault must be found.
const SEEDS_FOR_A_FAULT: u64 = 60;

#[test]
fn a_seed_makes_the_same_run_again() {
    for seed in 1..6 {
        let plan = Plan {
            lines_max: usize::MAX,
            ..Plan::of_seed(seed)
        };
        let (one, other) = (run(&plan), run(&plan));
        assert_eq!(one.trace, other.trace, "seed {seed}");
        assert_eq!(one, other, "seed {seed}");
    }
}

#[test]
fn nothing_is_found_where_nothing_is_planted() {
    for seed in 0..SEEDS {
        let outcome = run(&Plan::of_seed(seed));
        if let Some(violation) = outcome.violation {
            panic!("seed {seed}: {violation}\n{}", outcome.trace.join("\n"));
        }
    }
}

fn is_found(fault: Fault) -> bool {
    (0..SEEDS_FOR_A_FAULT).any(|seed| run(&Plan::of_seed(seed).with_fault(fault)).violation.is_some())
}

macro_rules! found {
    ($($test:ident: $fault:ident,)*) => {
        $(
            #[test]
            fn $test() {
                assert!(is_found(Fault::$fault));
            }
        )*

        #[test]
        fn every_fault_has_a_test() {
            assert_eq!(Fault::ALL, [$(Fault::$fault),*]);
        }
    };
}

found! {
    a_disk_that_lies_about_a_sync_is_found: SyncLies,
    a_frame_that_was_acknowledged_and_is_lost_is_found: FrameLost,
    a_segment_that_a_compaction_removes_too_early_is_found: SegmentTooMany,
    an_answer_before_it_is_durable_is_found: EarlyReply,
    an_invented_buyer_is_found: GhostBuyer,
    a_unit_too_many_is_found: UnitTooMany,
    a_ledger_without_a_guard_is_found: GuardSkipped,
    a_forgotten_key_is_found: KeyForgotten,
    a_key_that_is_named_wrongly_is_found: KeyBlurred,
    answers_that_go_to_each_other_are_found: AnswersSwapped,
    a_sale_called_sold_out_too_early_is_found: SoldOutEarly,
    an_admission_after_the_end_is_found: WindowIgnored,
    an_admission_while_paused_is_found: PauseIgnored,
    switches_that_are_not_kept_are_found: SwitchesForgotten,
    units_that_arrive_twice_are_found: AddedTwice,
    an_acknowledgement_before_the_ledger_is_found: AckedEarly,
    a_dropped_delivery_is_found: DeliveryDropped,
    a_second_order_of_a_redelivered_ticket_is_found: DeliveredTwice,
    a_missing_movement_is_found: MovementMissing,
    a_lost_batch_is_found: BatchLost,
    a_wrong_price_is_found: WrongPrice,
    a_round_that_is_made_twice_is_found: RoundTwice,
    an_expired_order_that_was_paid_is_found: ExpiresPaid,
    units_given_back_twice_are_found: UnitsTwice,
    a_reconciliation_that_raises_units_is_found: ReconcileRaises,
    a_ticket_that_recovery_forgets_is_found: RequeueLost,
}
