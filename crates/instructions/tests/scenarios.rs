//! Every scenario runs without a counter, and each of its operations ends as the scenario says.

use std::collections::BTreeSet;

use seckill_instructions::{SCENARIOS, counted, find};

/// More than one batch of most, and no whole number of them.
const OPERATIONS: usize = 70;

#[test]
fn every_operation_of_every_scenario_ends_as_it_should() {
    for scenario in SCENARIOS.iter().filter(|scenario| !scenario.name.ends_with("000000")) {
        let mut prepared = scenario.prepare(OPERATIONS).expect(scenario.name);
        assert_eq!(
            counted(&mut prepared).expect(scenario.name),
            OPERATIONS,
            "{}",
            scenario.name
        );
    }
}

#[test]
fn every_scenario_is_found_by_a_name_of_its_own() {
    let names: BTreeSet<&str> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
    assert_eq!(names.len(), SCENARIOS.len());
    assert_eq!(
        find("claim/batch-1").map(|scenario| scenario.name),
        Some("claim/batch-1")
    );
    assert!(find("claim").is_none());
}
