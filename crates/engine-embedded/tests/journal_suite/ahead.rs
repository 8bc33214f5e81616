//! Space that is taken while nothing waits.

use seckill_engine_embedded::journal::Error;
use seckill_engine_embedded::storage::simulated::Fault;

use crate::simulation::{OPTIONS, Simulation};

const AHEAD: u64 = 5_000;
const STEP: u64 = 700;

#[test]
fn space_ahead_comes_in_steps_and_can_be_used_on_a_full_disk() {
    let mut simulation = Simulation::new(3);
    let mut journal = simulation.start().unwrap();
    let mut steps = 0;
    while !journal.has_room(AHEAD) {
        let before = simulation.disk.used_bytes();
        journal.reserve_ahead(AHEAD, STEP).unwrap();
        let taken = simulation.disk.used_bytes() - before;
        assert!((1..=STEP).contains(&taken), "{taken}");
        steps += 1;
    }
    assert!(1 < steps);
    let operations = simulation.disk.operations();
    journal.reserve_ahead(AHEAD, STEP).unwrap();
    assert_eq!(simulation.disk.operations(), operations, "it is there already");
    simulation.disk.limit_space(0);
    for _ in 0..2 {
        simulation.commit(&mut journal).unwrap();
    }
    simulation.assert_survives();
}

#[test]
fn segment_without_room_ahead_is_sealed() {
    let mut simulation = Simulation::new(4);
    let mut journal = simulation.start().unwrap();
    let most = journal.bytes_ahead_max();
    while journal.stats().live_bytes + most <= OPTIONS.segment_bytes {
        assert_eq!(journal.stats().segments, 1);
        simulation.commit(&mut journal).unwrap();
    }
    while !journal.has_room(most) {
        journal.reserve_ahead(most, STEP).unwrap();
    }
    assert_eq!(journal.stats().segments, 2);
    simulation.commit(&mut journal).unwrap();
    simulation.assert_survives();
}

#[test]
fn full_disk_gives_no_space_ahead_and_harms_nothing() {
    let mut simulation = Simulation::new(5);
    let mut journal = simulation.start().unwrap();
    simulation.disk.limit_space(0);
    let most = journal.bytes_ahead_max();
    assert!(matches!(journal.reserve_ahead(most, STEP), Err(Error::Full)));
    simulation.commit(&mut journal).unwrap();
    simulation.assert_survives();
}

#[test]
fn disk_may_fail_at_every_step_of_taking_space_ahead() {
    for fault in [Fault::Broken, Fault::PowerLoss] {
        for operation in 0..40 {
            let mut simulation = Simulation::new(operation);
            let mut journal = simulation.start().unwrap();
            for _ in 0..6 {
                simulation.commit(&mut journal).unwrap();
            }
            let next = simulation.disk.operations() + operation;
            simulation.disk.fail(next, fault);
            let most = journal.bytes_ahead_max();
            while !journal.has_room(most) && journal.reserve_ahead(most, STEP).is_ok() {}
            drop(journal);
            simulation.assert_survives();
        }
    }
}
