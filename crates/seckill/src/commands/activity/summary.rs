//! An activity for people: what it is, when it is, what is left of it, and what the command did. Moments as the API tells them, in UTC.
//! Everything is in `--json`.

use serde_json::Value;

use crate::cli::ActivityCommand;

/// One line of the list.
pub(super) fn row(activity: &Value) -> String {
    format!(
        "{:>4}  {:<9}  {} of {} units left  {}  {}",
        plain(&activity["id"]),
        phase(activity),
        left(activity),
        plain(&activity["stock_total"]),
        window(activity),
        plain(&activity["title"])
    )
}

/// What was done, and the activity as it stands.
pub(super) fn lines(command: &ActivityCommand, activity: &Value) -> Vec<String> {
    let mut lines: Vec<String> = done(command, activity).into_iter().collect();
    let row = |name: &str, said: String| format!("{name:<10}{said}");
    lines.push(format!(
        "activity {}: {}",
        plain(&activity["id"]),
        plain(&activity["title"])
    ));
    let hidden = match is_draft(activity) {
        true => format!("; buyers do not see it: `seckill activity publish {}`", activity["id"]),
        false => String::new(),
    };
    lines.push(row("phase", format!("{}{hidden}", phase(activity))));
    lines.push(row("window", window(activity)));
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
    lines.extend(buyers(activity).map(|buyers| row("buyers", buyers)));
    if activity["challenge"] != "none" {
        lines.push(row("challenge", plain(&activity["challenge"])));
    }
    if let Some(notice) = activity["notice"].as_str() {
        lines.push(row("notice", notice.to_owned()));
    }
    if let Some(resumes_at) = activity["resumes_at"].as_str() {
        lines.push(row("resumes", resumes_at.to_owned()));
        // Both are told in UTC, with milliseconds, so they compare as texts.
        if activity["ends_at"]
            .as_str()
            .is_some_and(|ends_at| ends_at <= resumes_at)
        {
            lines.push(row(
                "warning",
                "it resumes when it is over: nobody buys any more".to_owned(),
            ));
        }
    }
    let warnings = activity["warnings"].as_array().into_iter().flatten();
    lines.extend(warnings.map(|warning| row("warning", plain(warning))));
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
        ActivityCommand::Publish { .. } => Some("published: buyers see it within a second".to_owned()),
        ActivityCommand::AddStock { quantity, .. } => Some(format!("{quantity} units added")),
        _ => None,
    }
}

fn is_draft(activity: &Value) -> bool {
    activity["status"] == "draft"
}

/// To buyers a draft is upcoming, if anything.
fn phase(activity: &Value) -> String {
    if is_draft(activity) {
        return "draft".to_owned();
    }
    plain(&activity["phase"])
}

/// Who may buy, where not everybody.
fn buyers(activity: &Value) -> Option<String> {
    let eligibility = &activity["eligibility"];
    match (eligibility["min_level"].as_u64(), eligibility["list"].is_null()) {
        (None, true) => None,
        (None, false) => Some("those on its list".to_owned()),
        (Some(level), true) => Some(format!("from level {level} on")),
        (Some(level), false) => Some(format!("those on its list, from level {level} on")),
    }
}

/// A pause keeps no sale from being preheated: what it waits for is its start.
fn preheated(activity: &Value) -> String {
    let id = &activity["id"];
    match activity["phase"].as_str() {
        _ if activity["preheated"] == true => "yes".to_owned(),
        _ if is_draft(activity) => "no; it is a draft".to_owned(),
        Some("ended") => "no".to_owned(),
        Some("upcoming" | "paused") => {
            let by_itself = "by itself from 10m before the start on (schedule.preheat_before)";
            format!("no; {by_itself}, paused or not, or now: `seckill preheat {id}`")
        }
        _ => format!("no; the scheduler does it within moments, or now: `seckill preheat {id}`"),
    }
}

fn window(activity: &Value) -> String {
    format!("{} to {}", plain(&activity["starts_at"]), plain(&activity["ends_at"]))
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
#[path = "summary_tests.rs"]
mod tests;
