//! Judges a sale by what was seen from outside: what the buyers were told, what the audit says, what results can be fetched.

use std::collections::HashSet;

use crate::Result;
use crate::audit::Audit;
use crate::canonical::{Audience, SaleConfig};
use crate::http::get;
use crate::jobs::Jobs;
use crate::outcome::{LoadReport, OutcomeCount};
use crate::target::Target;

/// Violations that are spelled out; the rest of their kind is only counted.
const SPELLED_OUT_MAX: usize = 10;

/// What the buyers were told against what the audit says.
pub(crate) fn of_sale(config: &SaleConfig, load: &LoadReport, audit: &Audit) -> Vec<String> {
    let mut violations = audit.faults();
    let mut violated = |condition: bool, said: String| {
        if condition {
            violations.push(said);
        }
    };
    let errors = load.server_errors();
    violated(
        0 < errors,
        format!("{errors} answers with a status of 500 or more that are no refusal"),
    );
    let unanswered = load.unanswered_total();
    violated(0 < unanswered, format!("{unanswered} requests without an answer"));
    let winners = load.winners.len() as u64;
    let tickets: HashSet<&str> = load.winners.iter().map(|(_, ticket)| &**ticket).collect();
    violated(
        tickets.len() as u64 != winners,
        format!("{winners} winners hold {} different tickets", tickets.len()),
    );
    violated(
        load.accepted != winners,
        format!("{} acceptances carried {winners} tickets", load.accepted),
    );
    violated(
        audit.accepted < winners,
        format!("{winners} buyers were accepted, the audit knows {}", audit.accepted),
    );
    violated(0 < audit.queued, format!("{} tickets are still queued", audit.queued));
    if config.audience == Audience::Alone {
        let sold = config.units.min(config.users as u64);
        violated(
            audit.accepted != sold,
            format!("{} units sold, {sold} should have been", audit.accepted),
        );
        violated(
            audit.orders_live != sold,
            format!("{} orders written, {sold} should have been", audit.orders_live),
        );
        let known = winners + load.unknown.len() as u64;
        violated(
            known < audit.accepted,
            format!("{} units went, only {known} buyers can have them", audit.accepted),
        );
    }
    violations.extend(limited(config, audit, &load.outcomes));
    violations
}

/// Why a sale of ours alone has sold too little: the server holds the crowd back, which comes from one address.
fn limited(config: &SaleConfig, audit: &Audit, outcomes: &[OutcomeCount]) -> Option<String> {
    let short = audit.accepted < config.units.min(config.users as u64);
    let limited = outcomes.iter().filter(|outcome| outcome.status == 429);
    let count: u64 = limited.map(|outcome| outcome.count).sum();
    (config.audience == Audience::Alone && short && 0 < count).then(|| {
        format!(
            "{count} requests met the server's own limits (429): start it for a test with SECKILL_LIMITS__IP=off and \
             SECKILL_LIMITS__USER=off, or name the client in limits.exempt"
        )
    })
}

/// Asks a sample of winners and of losers for their results; how many were asked.
pub(crate) fn check_results(
    target: &Target,
    activity_id: u64,
    jobs: &Jobs,
    load: &LoadReport,
    sample: usize,
    violations: &mut Vec<String>,
) -> Result<usize> {
    let path = format!("/api/seckill/result/{activity_id}");
    let mut said = Vec::new();
    let winners = spread(
        &load.winners.iter().map(|(index, _)| *index).collect::<Vec<_>>(),
        sample,
    );
    for &index in &winners {
        let user = jobs.user(index);
        let answer = get(target.public, &path, Some(&target.signer.token(user)))?;
        let body = answer.json();
        let order = body["data"]["order_no"].as_str().unwrap_or_default();
        if answer.status != 200 || body["code"] != 1 || order.is_empty() {
            said.push(format!("winner {user} has no order: {} {body}", answer.status));
        }
    }
    let bought: HashSet<usize> = load
        .winners
        .iter()
        .map(|(index, _)| *index)
        .chain(load.unknown.iter().copied())
        .collect();
    let lost: Vec<usize> = (0..jobs.len()).filter(|index| !bought.contains(index)).collect();
    let losers = spread(&lost, sample);
    for &index in &losers {
        let user = jobs.user(index);
        let answer = get(target.public, &path, Some(&target.signer.token(user)))?;
        let body = answer.json();
        if answer.status != 404 || body["code"] != 40401 {
            said.push(format!("loser {user} has a result: {} {body}", answer.status));
        }
    }
    let more = said.len().saturating_sub(SPELLED_OUT_MAX);
    said.truncate(SPELLED_OUT_MAX);
    violations.append(&mut said);
    if 0 < more {
        violations.push(format!("{more} more results that are wrong"));
    }
    Ok(winners.len() + losers.len())
}

/// Up to `count` of `all`, evenly spread, so that early and late buyers are among them.
pub(crate) fn spread<T: Clone>(all: &[T], count: usize) -> Vec<T> {
    let count = count.min(all.len());
    (0..count)
        .map(|number| all[number * all.len() / count].clone())
        .collect()
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
pub(crate) mod tests;
