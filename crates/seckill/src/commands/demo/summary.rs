//! What the demo says when its crowd is through: who came, who got a unit, what the others heard, and the audit. The pace is the demo's
//! own and says nothing of what the server can do, so each rate says whose it is.

use seckill_bench::canonical::SaleReport;
use seckill_bench::outcome::OutcomeCount;

use super::CROWD_OVER;

/// The summary, a line each.
pub(super) fn lines(sale: &SaleReport) -> Vec<String> {
    let load = &sale.load;
    let row = |name: &str, said: String| format!("{name:<13}{said}");
    let mut lines = vec![
        row(
            "crowd",
            format!(
                "{} buyers came within {} s, by the demo's own pace: {:.0} requests a second on average (`seckill bench` measures how \
                 many there could be)",
                sale.users,
                CROWD_OVER.as_secs(),
                load.requests_per_s
            ),
        ),
        row(
            "sold",
            format!(
                "{} purchases accepted, {} units were on sale",
                load.accepted, sale.units
            ),
        ),
    ];
    let refused = load
        .outcomes
        .iter()
        .filter(|outcome| !(200..300).contains(&outcome.status));
    lines.extend(refused.map(|outcome| row("refused", refusal(outcome))));
    lines.extend(load.unanswered.iter().map(|unanswered| {
        row(
            "no answer",
            format!("{} requests ({})", unanswered.count, unanswered.reason),
        )
    }));
    let latency = &load.latency;
    lines.push(row(
        "answered in",
        format!(
            "{:.1} ms half of them, {:.1} ms 99 of 100",
            latency.p50_ms, latency.p99_ms
        ),
    ));
    if let Some(after_ms) = sale.settlement.last_order_after_ms {
        let after_ms = after_ms.max(0.0);
        lines.push(row(
            "orders",
            format!("the last was written {after_ms:.0} ms after the last acceptance"),
        ));
    }
    let audit = &sale.audit;
    lines.push(row(
        "audit",
        format!(
            "{} units = {} left + {} queued + {} dead + {} in orders + {} returned; balanced: {}",
            audit.stock_total,
            audit.stock_left,
            audit.queued,
            audit.dead,
            audit.orders_live,
            audit.returned,
            match audit.balanced {
                Some(true) => "yes",
                Some(false) => "no",
                None => "unknown",
            }
        ),
    ));
    lines
}

fn refusal(outcome: &OutcomeCount) -> String {
    let code = outcome.code.map_or_else(String::new, |code| format!(", code {code}"));
    let said = match outcome.code {
        Some(40005) => "sold out",
        Some(40003) => "too often",
        Some(50300) => "busy",
        _ => "refused",
    };
    format!("{} heard \"{said}\" (HTTP {}{code})", outcome.count, outcome.status)
}
