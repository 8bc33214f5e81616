//! Counts the outcomes of a run, one tally a thread, and adds them up into a report.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::client::{Answer, Unanswered};
use crate::outcome::{LoadReport, OutcomeCount, SLOT_MS, Slot, UnansweredCount};

/// Ten minutes of columns; what comes later is counted in the last one.
const SLOTS_MAX: usize = 6_000;
/// Different (status, code) pairs that are kept apart; the rest goes under status 0.
const KINDS_MAX: usize = 64;
/// Longer latencies are recorded as this one.
const LATENCY_US_MAX: u64 = 120_000_000;

/// When things happened to one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// When it should have been sent; in a closed loop, when it was.
    pub(crate) intended: Instant,
    pub(crate) sent: Instant,
    pub(crate) done: Instant,
}

/// The counts of one thread of a run.
#[derive(Debug)]
pub(crate) struct Tally {
    started: Instant,
    outcomes: Vec<OutcomeCount>,
    unanswered: Vec<UnansweredCount>,
    latency: Histogram<u64>,
    accepted_latency: Histogram<u64>,
    accepted_service: Histogram<u64>,
    series: Vec<Slot>,
    winners: Vec<(usize, Box<str>)>,
    unknown: Vec<usize>,
    last_accepted: Option<Instant>,
    last_done: Instant,
}

impl Tally {
    pub(crate) fn new(started: Instant) -> Self {
        let empty = || Histogram::new_with_bounds(1, LATENCY_US_MAX, 3).expect("the bounds are constants that fit");
        Self {
            started,
            outcomes: Vec::new(),
            unanswered: Vec::new(),
            latency: empty(),
            accepted_latency: empty(),
            accepted_service: empty(),
            series: Vec::new(),
            winners: Vec::new(),
            unknown: Vec::new(),
            last_accepted: None,
            last_done: started,
        }
    }

    /// Counts the outcome of job `index`, and remembers what it came to.
    pub(crate) fn record(&mut self, index: usize, times: Times, outcome: Result<Answer<'_>, Unanswered>) {
        self.count(times, outcome);
        if outcome.map_or(true, |answer| 500 <= answer.status) {
            self.note_unknown(index);
        }
        if let Ok(answer) = outcome
            && answer.status == 202
            && let Some(ticket) = answer.ticket()
        {
            self.winners.push((index, ticket.into()));
        }
    }

    /// Remembers that job `index` may have bought without our knowing.
    pub(crate) fn note_unknown(&mut self, index: usize) {
        self.unknown.push(index);
    }

    /// Counts the outcome of a request.
    pub(crate) fn count(&mut self, times: Times, outcome: Result<Answer<'_>, Unanswered>) {
        self.last_done = self.last_done.max(times.done);
        *self
            .slot(times.done)
            .counter(outcome.as_ref().ok().map(|answer| answer.status)) += 1;
        let answer = match outcome {
            Ok(answer) => answer,
            Err(reason) => return add_unanswered(&mut self.unanswered, UnansweredCount { reason, count: 1 }),
        };
        add_outcome(
            &mut self.outcomes,
            OutcomeCount {
                status: answer.status,
                code: answer.code,
                count: 1,
            },
        );
        self.latency.saturating_record(micros(times.done - times.intended));
        if (200..300).contains(&answer.status) {
            self.accepted_latency
                .saturating_record(micros(times.done - times.intended));
            self.accepted_service.saturating_record(micros(times.done - times.sent));
            self.last_accepted = self.last_accepted.max(Some(times.done));
        }
    }

    fn slot(&mut self, at: Instant) -> &mut Slot {
        let ms = u64::try_from(at.saturating_duration_since(self.started).as_millis()).unwrap_or(u64::MAX);
        let number = usize::try_from(ms / SLOT_MS).unwrap_or(usize::MAX).min(SLOTS_MAX - 1);
        if self.series.len() <= number {
            self.series.resize(number + 1, Slot::default());
        }
        &mut self.series[number]
    }

    pub(crate) fn merge(&mut self, other: Self) {
        other
            .outcomes
            .into_iter()
            .for_each(|count| add_outcome(&mut self.outcomes, count));
        other
            .unanswered
            .into_iter()
            .for_each(|count| add_unanswered(&mut self.unanswered, count));
        let same = "histograms of equal bounds can be added";
        self.latency.add(other.latency).expect(same);
        self.accepted_latency.add(other.accepted_latency).expect(same);
        self.accepted_service.add(other.accepted_service).expect(same);
        self.series
            .resize(self.series.len().max(other.series.len()), Slot::default());
        self.series
            .iter_mut()
            .zip(&other.series)
            .for_each(|(mine, theirs)| mine.add(theirs));
        self.winners.extend(other.winners);
        self.unknown.extend(other.unknown);
        self.last_accepted = self.last_accepted.max(other.last_accepted);
        self.last_done = self.last_done.max(other.last_done);
    }

    pub(crate) fn report(mut self) -> LoadReport {
        self.outcomes.sort_by_key(|outcome| (outcome.status, outcome.code));
        self.winners.sort_by_key(|(index, _)| *index);
        let answered = self.outcomes.iter().map(|outcome| outcome.count).sum::<u64>();
        let unanswered = self.unanswered.iter().map(|count| count.count).sum::<u64>();
        let duration_s = (self.last_done - self.started).as_secs_f64();
        let per_second = |count: u64| {
            if duration_s == 0.0 {
                0.0
            } else {
                count as f64 / duration_s
            }
        };
        LoadReport {
            requests: answered + unanswered,
            answered,
            accepted: self.accepted_latency.len(),
            duration_s,
            requests_per_s: per_second(answered),
            accepted_per_s: per_second(self.accepted_latency.len()),
            outcomes: self.outcomes,
            unanswered: self.unanswered,
            latency: (&self.latency).into(),
            accepted_latency: (&self.accepted_latency).into(),
            accepted_service: (&self.accepted_service).into(),
            series: self.series,
            winners: self.winners,
            unknown: self.unknown,
            started: self.started,
            last_accepted: self.last_accepted,
        }
    }
}

fn add_outcome(outcomes: &mut Vec<OutcomeCount>, count: OutcomeCount) {
    let room = outcomes.len() < KINDS_MAX || count.status == 0;
    match outcomes
        .iter_mut()
        .find(|seen| (seen.status, seen.code) == (count.status, count.code))
    {
        Some(seen) => seen.count += count.count,
        None if room => outcomes.push(count),
        None => add_outcome(
            outcomes,
            OutcomeCount {
                status: 0,
                code: None,
                count: count.count,
            },
        ),
    }
}

fn add_unanswered(all: &mut Vec<UnansweredCount>, count: UnansweredCount) {
    match all.iter_mut().find(|seen| seen.reason == count.reason) {
        Some(seen) => seen.count += count.count,
        None => all.push(count),
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "tally_tests.rs"]
mod tests;
