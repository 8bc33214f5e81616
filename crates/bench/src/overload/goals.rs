//! What an overloaded server is held against.

use std::time::Duration;

use crate::outcome::LoadReport;
use crate::overload::OverloadReport;

/// How long the server may take to be back to normal.
pub(super) const RECOVERY_LIMIT: Duration = Duration::from_secs(10);
/// How long the p99 of accepted purchases may lie above the store's own time.
const P99_ABOVE_STORE_MS_MAX: f64 = 50.0;
/// A p99 within this of the earlier one counts as back to normal; a p99 of a second's load moves by more than a tenth by itself.
const P99_NOISE_MS: f64 = 20.0;

/// Everything was accepted, about as fast as before.
pub(super) fn is_normal(after: &LoadReport, before: &LoadReport) -> bool {
    let p99_ms_max = (before.accepted_latency.p99_ms * 1.1).max(before.accepted_latency.p99_ms + P99_NOISE_MS);
    after.accepted == after.requests && after.accepted_latency.p99_ms <= p99_ms_max
}

/// What a run should have reached and didn't.
pub(super) fn missed(report: &OverloadReport) -> Vec<String> {
    let mut missed = Vec::new();
    // Rude clients take their share of the same cores, and as large a one as they get.
    let is_rude = report.people.is_some();
    let (goodput, wanted) = (report.goodput, report.bottleneck.goodput_min());
    if !is_rude && goodput < wanted {
        missed.push(format!("goodput {goodput:.2} of the best, {wanted:.2} wanted"));
    }
    let p99_ms = report.overload.accepted_latency.p99_ms;
    if let Some(own_ms) = report
        .store_own_ms
        .filter(|own_ms| !is_rude && own_ms + P99_ABOVE_STORE_MS_MAX < p99_ms)
    {
        missed.push(format!(
            "p99 of accepted {p99_ms:.1} ms, the store's own time is {own_ms:.1} ms"
        ));
    }
    if report.recovered_after_s.is_none() {
        missed.push(format!("not back to normal within {} s", RECOVERY_LIMIT.as_secs()));
    }
    missed
}

/// Answers that no load excuses: anything but 2xx, 4xx and 503, and silence.
pub(super) fn forbidden(load: &LoadReport) -> Vec<String> {
    let allowed = |status: u16| (200..300).contains(&status) || (400..500).contains(&status) || status == 503;
    let wrong = load.outcomes.iter().filter(|outcome| !allowed(outcome.status));
    let mut said: Vec<String> = wrong
        .map(|outcome| format!("{} answers {}", outcome.count, outcome.status))
        .collect();
    said.extend(
        load.unanswered
            .iter()
            .map(|silent| format!("{} requests without an answer: {}", silent.count, silent.reason)),
    );
    said
}

#[cfg(test)]
mod tests;
