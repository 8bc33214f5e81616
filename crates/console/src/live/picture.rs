//! One second of the house as an event shows it: the figures of all nodes added up, and what store and catalogue say.

use std::collections::BTreeMap;
use std::sync::Arc;

use seckill_api::rfc3339;
use seckill_flow::wait_ms;
use seckill_metrics::percentile_us;
use seckill_sale::{Activity, ActivityId, EpochMs, Phase};
use seckill_stock::Living;
use serde_json::{Value, json};

use super::asked::Nodes;
use super::figures::Figures;
use crate::state::Console;

/// Activities of one event, where it is not about a single one: those that start first.
const ACTIVITIES_MAX: usize = 64;

/// Rates to a tenth: more would be noise.
fn rate(per_second: f64) -> f64 {
    // A sum of nothing is a negative zero.
    (per_second * 10.0).round() / 10.0 + 0.0
}

/// Rates of several nodes, by outcome.
fn outcomes<'a>(all: impl Iterator<Item = (&'a Figures, &'a BTreeMap<String, u64>)>) -> Value {
    let mut sum: BTreeMap<&str, f64> = BTreeMap::new();
    for (figures, outcomes) in all {
        for (outcome, count) in outcomes {
            *sum.entry(outcome).or_default() += figures.per_second(*count);
        }
    }
    sum.into_iter()
        .map(|(outcome, sum)| (outcome.to_owned(), json!(rate(sum))))
        .collect()
}

/// Half and 99 % of the purchases of all nodes took no longer.
fn latency<'a>(all: impl Iterator<Item = &'a Figures>) -> Value {
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    for (bound, count) in all.flat_map(|figures| &figures.latency_us) {
        *buckets.entry(*bound).or_default() += count;
    }
    let buckets: Vec<_> = buckets.into_iter().collect();
    json!({"p50_us": percentile_us(&buckets, 0.5), "p99_us": percentile_us(&buckets, 0.99)})
}

fn moment(ms: i64) -> Option<String> {
    (ms != 0).then(|| rfc3339(EpochMs(ms)))
}

fn node((living, figures): &(Living, Figures)) -> Value {
    let member = &living.member;
    json!({
        "id": member.id, "roles": member.roles, "version": member.version, "admin": member.admin,
        "started_at": rfc3339(member.started_at), "age_ms": living.age_ms, "clock_ahead_ms": living.clock_ahead_ms(),
        "requests_per_s": rate(figures.per_second(figures.requests)), "orders_per_s": rate(figures.per_second(figures.orders)),
        "in_flight": figures.in_flight, "workers": figures.workers, "last_batch_at": moment(figures.last_batch_at),
        "database_up": figures.database_up,
    })
}

/// The nodes that figures come from: those that the store knows, this one by what it says at this moment.
fn counted(console: &Console, nodes: &Nodes, now: EpochMs) -> Vec<(Living, Figures)> {
    let own = &console.live.member;
    let mut all = nodes.living.clone().unwrap_or_default();
    match all.iter_mut().find(|(living, _)| living.member.id == own.id) {
        Some((_, figures)) => *figures = console.figures(),
        None => {
            let mut member = own.clone();
            member.sent_at = now;
            let living = Living {
                member,
                beat_at: now,
                age_ms: 0,
            };
            all.push((living, console.figures()));
        }
    }
    all
}

fn activity(console: &Console, nodes: &[(Living, Figures)], activity: &Activity, now: EpochMs) -> Value {
    let id = activity.id.get();
    let of_nodes = || {
        let found = |figures: &'_ Figures| figures.activities.iter().position(|of| of.id == id);
        nodes
            .iter()
            .filter_map(move |(_, figures)| Some((figures, found(figures)?)))
    };
    let orders: f64 = of_nodes()
        .map(|(figures, at)| figures.per_second(figures.activities[at].orders))
        .sum();
    let stock_left = console.stock().stock_left(activity.id);
    json!({
        "id": id, "title": activity.title, "phase": activity.phase(now, stock_left),
        "starts_at": rfc3339(activity.window.starts_at), "ends_at": rfc3339(activity.window.ends_at),
        "stock_total": activity.stock_total, "stock_left": stock_left,
        "outcomes_per_s": outcomes(of_nodes().map(|(figures, at)| (figures, &figures.activities[at].outcomes))),
        "orders_per_s": rate(orders),
    })
}

/// Those that are not over, or the one that was asked for.
fn shown(console: &Console, only: Option<ActivityId>, now: EpochMs) -> Vec<Arc<Activity>> {
    let catalogue = console.gate.catalogue().all();
    if let Some(id) = only {
        return catalogue.get(&id).cloned().into_iter().collect();
    }
    let unended = catalogue.values().filter(|activity| {
        let stock_left = console.stock().stock_left(activity.id);
        activity.phase(now, stock_left) != Phase::Ended
    });
    let mut unended: Vec<_> = unended.cloned().collect();
    unended.sort_by_key(|activity| (activity.window.starts_at, activity.id));
    unended.truncate(ACTIVITIES_MAX);
    unended
}

/// The event's data.
pub(crate) fn picture(console: &Console, asked: &Nodes, only: Option<ActivityId>) -> Value {
    let now = console.now();
    let nodes = counted(console, asked, now);
    let all = || nodes.iter().map(|(_, figures)| figures);
    let sum = |of: fn(&Figures) -> u64| rate(all().map(|figures| figures.per_second(of(figures))).sum());
    let depth = console.operator.layers().queue.depth();
    let activities = shown(console, only, now);
    json!({
        "at": rfc3339(now),
        "requests_per_s": sum(|figures| figures.requests),
        "orders_per_s": sum(|figures| figures.orders),
        "outcomes_per_s": outcomes(all().map(|figures| (figures, &figures.outcomes))),
        "latency": latency(all()),
        "in_flight": all().map(|figures| figures.in_flight).sum::<u64>(),
        "backlog": {
            "tickets": depth.tickets, "oldest_ms": wait_ms(depth.oldest_accepted_at, now), "dead": depth.dead,
        },
        "workers": {
            "running": all().map(|figures| figures.workers).sum::<u64>(),
            "last_batch_at": moment(all().map(|figures| figures.last_batch_at).max().unwrap_or(0)),
        },
        "scheduler": asked.scheduler,
        "store": {"up": asked.living.is_some(), "answered_in_ms": asked.answered_in_ms},
        "database": {"up": all().all(|figures| figures.database_up)},
        "activities": activities.iter().map(|one| activity(console, &nodes, one, now)).collect::<Vec<_>>(),
        "nodes": nodes.iter().map(node).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::rate;

    #[test]
    fn a_rate_of_nothing_is_zero_and_not_less() {
        let nothing: f64 = std::iter::empty::<f64>().sum();
        assert_eq!(
            serde_json::json!([rate(nothing), rate(-0.04), rate(2.26)]).to_string(),
            "[0.0,0.0,2.3]"
        );
    }
}
