//! One fault at the n-th operation of a life, for every n; and disks of every size that fill up.

use seckill_engine_embedded::journal::{Error, Journal};
use seckill_engine_embedded::storage::simulated::{Fault, Simulated};

use crate::simulation::{Compacting, OPTIONS, Simulation};

/// Whims of the disk that each fault is tried with.
const SEEDS: u64 = 2;

/// How a life ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// All of it was done, after that many errors.
    Complete { errors: u64 },
    /// The journal stopped.
    Broken,
    /// The start failed.
    NotStarted,
}

/// Two starts, rotations, compactions, with every call tried again after a definite error.
fn live(simulation: &mut Simulation) -> End {
    let mut errors = 0;
    for _ in 0..2 {
        let Some(mut journal) = simulation.start() else {
            return End::NotStarted;
        };
        for step in 0..40 {
            let done = act(simulation, &mut journal, step).or_else(|error| {
                errors += 1;
                if journal.is_broken() || !simulation.disk.has_power() {
                    return Err(error);
                }
                act(simulation, &mut journal, step)
            });
            match done {
                Ok(()) => {}
                Err(_) if journal.is_broken() || !simulation.disk.has_power() => return End::Broken,
                Err(error) => panic!("the second attempt failed too: {error:?}"),
            }
        }
        simulation.disk.restart();
    }
    End::Complete { errors }
}

fn act(simulation: &mut Simulation, journal: &mut Journal<Simulated>, step: u64) -> Result<(), Error> {
    match step % 20 {
        7 => journal.reserve(5000),
        12 => journal.seal(),
        15 => Compacting::begin(journal).map_or(Ok(()), |compacting| compacting.finish().map(drop)),
        _ => simulation.commit(journal),
    }
}

/// Runs the life once for each operation with the fault there, then hands the end to `check`.
fn at_every_operation(fault: Fault, check: impl Fn(u64, &End)) {
    let mut calm = Simulation::new(0);
    assert_eq!(live(&mut calm), End::Complete { errors: 0 });
    assert!(200 < calm.disk.operations());
    for operation in 0..calm.disk.operations() {
        for seed in 0..SEEDS {
            let mut simulation = Simulation::new(seed * 1000 + operation);
            simulation.disk.fail(operation, fault);
            let end = live(&mut simulation);
            check(operation, &end);
            simulation.assert_survives();
        }
    }
}

#[test]
fn disk_error_at_any_operation_loses_nothing_acknowledged() {
    at_every_operation(Fault::Broken, |_, _| {});
}

#[test]
fn power_loss_at_any_operation_loses_nothing_acknowledged() {
    at_every_operation(Fault::PowerLoss, |_, _| {});
}

#[test]
fn short_and_interrupted_transfers_are_not_noticed() {
    let unnoticed = |operation, end: &End| assert_eq!(*end, End::Complete { errors: 0 }, "{operation}");
    at_every_operation(Fault::Short, unnoticed);
    at_every_operation(Fault::Interrupted, unnoticed);
}

#[test]
fn full_disk_at_any_operation_stops_the_journal_only_where_a_batch_is_in_flight() {
    let broken = std::cell::Cell::new(0);
    at_every_operation(Fault::Full, |_, end| {
        broken.set(broken.get() + u64::from(*end == End::Broken));
    });
    let commits = 2 * (40 - 6);
    let at_write_or_sync = 2;
    assert_eq!(broken.get(), SEEDS * commits * at_write_or_sync);
}

#[test]
fn disk_that_fills_up_keeps_what_fits_and_heals_when_space_returns() {
    let mut refused = 0;
    for limit in (0..60_000).step_by(700) {
        let mut simulation = Simulation::new(limit);
        simulation.disk.limit_space(limit);
        let Ok(mut journal) = simulation
            .try_start()
            .inspect_err(|error| assert!(matches!(error, Error::Full)))
        else {
            simulation.assert_survives();
            continue;
        };
        for step in 0..100 {
            match act(&mut simulation, &mut journal, step) {
                Ok(()) => {}
                Err(Error::Full) => refused += 1,
                Err(error) => panic!("{error:?}"),
            }
            assert!(simulation.disk.used_bytes() <= limit);
        }
        simulation.disk.limit_space(u64::MAX);
        for step in 0..40 {
            act(&mut simulation, &mut journal, step).unwrap();
        }
        drop(journal);
        simulation.assert_survives();
    }
    assert!(1000 < refused, "{refused}");
}

#[test]
fn reserved_space_can_be_used_on_a_full_disk() {
    let mut simulation = Simulation::new(1);
    let mut journal = simulation.start().unwrap();
    journal.reserve(11_000).unwrap();
    simulation.disk.limit_space(0);
    for _ in 0..4 {
        simulation.commit(&mut journal).unwrap();
    }
    assert!(matches!(journal.reserve(11_000), Err(Error::Full)));
    simulation.commit(&mut journal).unwrap();
    simulation.assert_survives();
}

#[test]
fn nearly_full_disk_gives_what_is_needed_and_keeps_the_rest_for_others() {
    let mut simulation = Simulation::new(2);
    let mut journal = simulation.start().unwrap();
    let begin = simulation.disk.used_bytes();
    simulation.disk.limit_space(begin + 600);
    journal.reserve(OPTIONS.allocate_bytes + 500).unwrap();
    let used = simulation.disk.used_bytes();
    assert_eq!(used, begin + 500, "a whole step doesn't fit");
    assert!(matches!(journal.reserve(9000), Err(Error::Full)));
    assert_eq!(simulation.disk.used_bytes(), used);
}

#[test]
fn reserved_space_is_on_the_disk_when_the_call_returns() {
    for seed in 0..20 {
        let mut simulation = Simulation::new(seed);
        simulation.start().unwrap().reserve(11_000).unwrap();
        let reserved = simulation.disk.used_bytes();
        simulation.disk.cut_power();
        assert_eq!(simulation.disk.used_bytes(), reserved);
    }
}

#[test]
fn batch_that_was_only_in_memory_is_on_the_disk_after_the_next_start() {
    for seed in 0..50 {
        let mut simulation = Simulation::new(seed);
        let mut journal = simulation.start().unwrap();
        for _ in 0..3 {
            simulation.commit(&mut journal).unwrap();
        }
        journal.reserve(3000).unwrap();
        // The write succeeds, the sync fails and forgets sectors; the next process sees the batch all the same.
        simulation.disk.fail(simulation.disk.operations() + 1, Fault::Broken);
        assert!(matches!(simulation.commit(&mut journal), Err(Error::Broken { .. })));
        simulation.disk.restart();
        simulation.start().unwrap();
        assert_eq!(simulation.acknowledged, 4);
        simulation.disk.cut_power();
        simulation.disk.restart();
        simulation.start().unwrap();
        assert_eq!(simulation.acknowledged, 4);
    }
}
