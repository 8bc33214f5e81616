//! Turns everything, on and off, again and again.

use super::heard::Turn;
use super::moments;
use super::stage::{Followed, Stage};
use super::switch::Switch;
use super::times::{Since, SwitchTimes};
use crate::Result;
use crate::fleet::Fleet;

/// Every switch, on at one node and off at the next, each time at other nodes; then what happens at a moment. Where it fails, workers may be left standing still.
pub(super) fn turn_all(stage: &mut Stage, fleet: &Fleet, repetitions: usize) -> Result<Vec<SwitchTimes>> {
    let mut all = Vec::new();
    stage.opens()?;
    for switch in Switch::ALL {
        if switch == Switch::Backlog {
            moments::pile_up(stage, fleet)?;
        }
        let turns = [true, false].map(|on| Turn { switch, on });
        let mut followed = [Vec::new(), Vec::new()];
        for number in 0..repetitions * turns.len() {
            let (turn, by) = (turns[number % 2], number.div_ceil(2) % stage.admins.len());
            let command = switch.command(turn.on, &stage.scene);
            followed[number % 2].push(stage.turn(turn, by, &command)?);
        }
        let times = turns.iter().zip(&followed);
        all.extend(times.map(|(turn, followed)| SwitchTimes::of(turn.to_string(), Since::Answer, followed)));
    }
    let drained = |stage: &mut Stage, by| moments::drained(stage, fleet, by);
    let drained = repeated(stage, repetitions, drained)?;
    all.push(SwitchTimes::of(
        "backlog drained".to_owned(),
        Since::FirstNode,
        &drained,
    ));
    let expired = repeated(stage, repetitions, moments::expiry)?;
    all.push(SwitchTimes::of("expires_at".to_owned(), Since::Moment, &expired));
    let resumed = repeated(stage, repetitions, moments::resumption)?;
    for since in [Since::Moment, Since::FirstNode] {
        all.push(SwitchTimes::of("resume at".to_owned(), since, &resumed));
    }
    Ok(all)
}

/// Once told at each node in turn.
fn repeated(
    stage: &mut Stage,
    repetitions: usize,
    mut one: impl FnMut(&mut Stage, usize) -> Result<Followed>,
) -> Result<Vec<Followed>> {
    let nodes = stage.admins.len();
    (0..repetitions).map(|number| one(stage, number % nodes)).collect()
}
