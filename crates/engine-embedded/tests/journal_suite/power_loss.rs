//! Power losses at random moments of a random life, over and over on one disk.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use seckill_engine_embedded::journal::{Error, Journal};
use seckill_engine_embedded::storage::simulated::{Fault, Simulated};

use crate::simulation::{Compacting, Simulation};

const SEEDS: u64 = 200;
const LIVES: u64 = 5;
/// More than the operations that the power lasts for.
const STEPS_MAX: u64 = 2000;

#[test]
fn acknowledged_batches_survive_every_power_loss() {
    let mut totals = [0; 3];
    for seed in 0..SEEDS {
        let mut simulation = Simulation::new(seed);
        let mut random = StdRng::seed_from_u64(seed);
        for _ in 0..LIVES {
            let end = simulation.disk.operations() + random.random_range(0..400);
            simulation.disk.fail(end, Fault::PowerLoss);
            if let Some(mut journal) = simulation.start() {
                live(&mut simulation, &mut journal, &mut random, &mut totals);
            }
            simulation.disk.cut_power();
            simulation.disk.clear_faults();
            simulation.disk.restart();
        }
        simulation.assert_survives();
    }
    let [commits, rotations, compactions] = totals;
    assert!(
        30_000 < commits && 1000 < rotations && 300 < compactions,
        "a busy life: {totals:?}"
    );
}

/// Does random things until the power fails.
fn live(simulation: &mut Simulation, journal: &mut Journal<Simulated>, random: &mut StdRng, totals: &mut [u64; 3]) {
    let mut compacting = None;
    for _ in 0..STEPS_MAX {
        let done = match random.random_range(0..100) {
            0..80 => simulation.commit(journal).inspect(|()| totals[0] += 1),
            80..88 => journal.reserve(random.random_range(0..9000)),
            88..91 => journal.seal().inspect(|()| totals[1] += 1),
            _ => advance(&mut compacting, journal)
                .inspect(|finished| totals[2] += u64::from(*finished))
                .map(drop),
        };
        if let Err(error) = done {
            assert!(!simulation.disk.has_power(), "{error:?}");
            return;
        }
    }
    panic!("the power did not fail");
}

fn advance(compacting: &mut Option<Compacting>, journal: &Journal<Simulated>) -> Result<bool, Error> {
    let Some(current) = compacting.take().or_else(|| Compacting::begin(journal)) else {
        return Ok(false);
    };
    let next = current.advance()?;
    let finished = matches!(next, Compacting::Done(_));
    *compacting = (!finished).then_some(next);
    Ok(finished)
}
