//! An activity for people: what it is, when it is, what is left of it, and what the command did. Everything is in `--json`.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::cli::ActivityCommand;

/// One line of the list.
pub(super) fn row(activity: &Value) -> String {
    format!(
        "{:>4}  {:<9}  {} of {} units left  {}  {}",
        plain(&activity["id"]),
        plain(&activity["phase"]),
        left(activity),
        plain(&activity["stock_total"]),
        window(activity, None),
        plain(&activity["title"])
    )
}

/// What was done, and the activity as it stands. `as_given` are start and end as somebody has just typed them.
pub(super) fn lines(command: &ActivityCommand, activity: &Value, as_given: Option<(&str, &str)>) -> Vec<String> {
    let mut lines: Vec<String> = done(command, activity).into_iter().collect();
    let row = |name: &str, said: String| format!("{name:<10}{said}");
    lines.push(format!(
        "activity {}: {}",
        plain(&activity["id"]),
        plain(&activity["title"])
    ));
    lines.push(row("phase", plain(&activity["phase"])));
    lines.push(row("window", window(activity, as_given)));
    lines.push(row(
        "units",
        format!(
            "{} left of {}, {} at most per buyer",
            left(activity),
            plain(&activity["stock_total"]),
            plain(&activity["per_user_limit"])
        ),
    ));
    lines.push(row(
        "price",
        format!(
            "{} in minor units of {}, usually {}",
            plain(&activity["seckill_price_cents"]),
            plain(&activity["currency"]),
            plain(&activity["price_cents"])
        ),
    ));
    lines.push(row("preheated", preheated(activity)));
    if let Some(resumes_at) = activity["resumes_at"].as_str() {
        lines.push(row("resumes", local(resumes_at)));
    }
    if activity["ledger_pending"] == true {
        lines.push(row(
            "database",
            "does not know the pause yet; it is told when it is back".to_owned(),
        ));
    }
    lines
}

/// What a command did that the activity does not show.
fn done(command: &ActivityCommand, activity: &Value) -> Option<String> {
    match command {
        ActivityCommand::Preheat { .. } if activity["created"] == false => {
            Some("already preheated; nothing changed".to_owned())
        }
        ActivityCommand::Preheat { .. } => Some("preheated: its units are in place".to_owned()),
        ActivityCommand::AddStock { quantity, .. } => Some(format!("{quantity} units added")),
        _ => None,
    }
}

fn preheated(activity: &Value) -> String {
    if activity["preheated"] == true {
        return "yes".to_owned();
    }
    match activity["phase"].as_str() {
        _ if activity["status"] == "draft" => "no; it is a draft",
        Some("upcoming") => {
            "no; by itself before the start (schedule.preheat_before, 10m unless set otherwise), or now: `seckill preheat`"
        }
        Some("ended") => "no",
        _ => "no; the scheduler does it within moments, or now: `seckill preheat`",
    }
    .to_owned()
}

fn window(activity: &Value, as_given: Option<(&str, &str)>) -> String {
    let stored = |name: &str| local(&plain(&activity[name]));
    match as_given {
        Some((starts_at, ends_at)) => format!("{starts_at} to {ends_at}"),
        None => format!("{} to {}", stored("starts_at"), stored("ends_at")),
    }
}

/// A moment of the API in this machine's time zone, with its offset.
fn local(moment: &str) -> String {
    let Ok(at) = moment.parse::<Timestamp>() else {
        return moment.to_owned();
    };
    let zoned = at.to_zoned_datetime(TimeZone::system());
    zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

fn left(activity: &Value) -> String {
    activity["stock_left"]
        .as_u64()
        .map_or_else(|| "unknown".to_owned(), |left| left.to_string())
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn activity() -> Value {
        json!({
            "id": 7, "title": "Launch", "phase": "upcoming", "stock_total": 10, "stock_left": 10, "per_user_limit": 1,
            "starts_at": "2026-01-01T00:00:00.000Z", "ends_at": "2026-01-02T00:00:00.000Z",
            "seckill_price_cents": 9905, "price_cents": 12_000, "currency": "CNY", "preheated": false, "created": false,
        })
    }

    #[test]
    fn summary_says_what_counts_and_the_window_as_it_was_given() {
        let given = Some(("2026-01-01T08:00:00+08:00", "2026-01-02T08:00:00+08:00"));
        let said = lines(&ActivityCommand::Show { id: 7 }, &activity(), given).join("\n");
        for part in [
            "activity 7: Launch",
            "phase     upcoming",
            "window    2026-01-01T08:00:00+08:00 to 2026-01-02T08:00:00+08:00",
            "units     10 left of 10, 1 at most per buyer",
            "price     9905 in minor units of CNY, usually 12000",
            "preheated no; by itself before the start",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }

    #[test]
    fn preheating_what_is_preheated_says_so() {
        let said = |created: bool| {
            let mut activity = activity();
            activity["created"] = created.into();
            lines(&ActivityCommand::Preheat { id: 7 }, &activity, None).swap_remove(0)
        };
        assert_eq!(said(false), "already preheated; nothing changed");
        assert_eq!(said(true), "preheated: its units are in place");
    }
}
