//! Makes the rounds of recurring sales: each is an activity of its own, unique by schedule and start.
//!
//! A round is made `lead_ms` before its start. Of rounds whose start was slept through only the newest is made, and only while its window
//! is open; older ones are given up: nobody waits for yesterday's sale. A round for which the product is short is not made, raises an
//! alarm, stands in the schedule's `last_error`, and is not tried again; the next one is, at its own time.
//!
//! What was made or given up is the ledger's to know, and nothing is remembered here: one that was restored from a copy wants the rounds
//! that it lost.

use seckill_ledger::{Conflict, NewActivity, Schedule};
use seckill_sale::{EpochMs, Window};

use super::Occurrences;
use crate::{Error, Operator};

/// Rounds of one schedule that one tick makes at the most.
pub const ROUNDS_A_TICK: usize = 16;

/// What one tick did with rounds.
#[derive(Debug, Default)]
pub(super) struct RoundsMade {
    pub(super) made: u64,
    /// When the next one is to be made.
    pub(super) next_at: Option<EpochMs>,
    pub(super) failures: Vec<String>,
}

/// Makes what is due at `now`.
pub(super) async fn make(operator: &Operator, now: EpochMs) -> Result<RoundsMade, Error> {
    let mut rounds = RoundsMade::default();
    let schedules = operator.layers.ledger.schedules().await?;
    for schedule in schedules.iter().filter(|schedule| schedule.enabled) {
        if let Err(error) = make_of(operator, schedule, now, &mut rounds).await {
            rounds.failures.push(format!("schedule {}: {error}", schedule.id));
        }
    }
    Ok(rounds)
}

async fn make_of(
    operator: &Operator,
    schedule: &Schedule,
    now: EpochMs,
    rounds: &mut RoundsMade,
) -> Result<(), String> {
    let starts = Occurrences::new(&schedule.schedule.cron, &schedule.schedule.time_zone);
    let starts = starts.map_err(|error| error.to_string())?;
    let done = schedule.last_round.unwrap_or(schedule.created_at.plus(-1));
    let due = due(&starts, schedule, done, now);
    for start in due.starts {
        make_one(operator, schedule, start, rounds).await?;
    }
    rounds.next_at = rounds.next_at.into_iter().chain(due.next_at).min();
    Ok(())
}

async fn make_one(
    operator: &Operator,
    schedule: &Schedule,
    start: EpochMs,
    rounds: &mut RoundsMade,
) -> Result<(), String> {
    let Some(activity) = round(schedule, start) else {
        return Ok(());
    };
    let context = operator.own_context();
    match operator
        .layers
        .ledger
        .make_round(schedule.id, start, activity, context)
        .await
    {
        Ok(activity) => {
            rounds.made += 1;
            tracing::info!(schedule = schedule.id, activity = %activity.id, "a round was made");
            operator.show(&activity).await;
            Ok(())
        }
        Err(seckill_ledger::Error::Conflict(Conflict::RoundExists)) => Ok(()),
        Err(error @ seckill_ledger::Error::Conflict(Conflict::ProductShort { .. })) => {
            tracing::error!(schedule = schedule.id, start = start.0, %error, "a round was not made");
            rounds.failures.push(format!("schedule {}: {error}", schedule.id));
            Ok(())
        }
        Err(error) => Err(error.to_string()),
    }
}

struct Due {
    starts: Vec<EpochMs>,
    next_at: Option<EpochMs>,
}

fn length_ms(schedule: &Schedule) -> i64 {
    let window = schedule.schedule.template.window;
    window.ends_at.since(window.starts_at)
}

/// Starts to be made at `now`, oldest first, when everything up to `done` is done; and when the next one is to be made.
fn due(starts: &Occurrences, schedule: &Schedule, done: EpochMs, now: EpochMs) -> Due {
    let lead_ms = schedule.schedule.lead_ms.max(0);
    let is_open = |&start: &EpochMs| done < start && now < start.plus(length_ms(schedule));
    let mut due: Vec<_> = starts.at_or_before(now).filter(is_open).into_iter().collect();
    let mut from = done.max(now);
    while due.len() < ROUNDS_A_TICK {
        match starts.after(from) {
            Some(start) if start.plus(-lead_ms) <= now => {
                due.push(start);
                from = start;
            }
            later => {
                let next_at = later.map(|start| start.plus(-lead_ms));
                return Due { starts: due, next_at };
            }
        }
    }
    Due {
        starts: due,
        next_at: Some(now),
    }
}

/// The activity of the round that starts at `start`.
fn round(schedule: &Schedule, start: EpochMs) -> Option<NewActivity> {
    let window = Window::new(start, start.plus(length_ms(schedule)))?;
    Some(NewActivity {
        window,
        ..schedule.schedule.template.clone()
    })
}
