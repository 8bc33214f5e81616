//! Switches for people: each by the name that `seckill switches set` takes. Everything is in `--json`.

use serde_json::Value;

/// In the order of docs/switches.md.
const NAMES: [&str; 9] = [
    "entry_open",
    "read_only",
    "admit_ratio",
    "auto_admit",
    "challenge",
    "limits",
    "backlog_max",
    "backlog_resume",
    "backlog_oldest_max_s",
];

/// The switches that hold, those marked that a change has just `named`, and what the node does by itself.
pub(super) fn in_force(answer: &Value, named: &[&str]) -> Vec<String> {
    let row = |name: &str, said: &str| format!("{name:<24}{said}");
    let mut lines = vec![row("revision", &answer["revision"].to_string())];
    for (name, value) in members(answer) {
        let mark = if named.contains(&name.as_str()) {
            "   <- set now"
        } else {
            ""
        };
        lines.push(row(&name, &format!("{value}{}{mark}", note(answer, &name, &value))));
    }
    for due in answer["returns"].as_array().into_iter().flatten() {
        let back: Vec<_> = members(&due["members"])
            .iter()
            .map(|(name, value)| match value.contains(' ') {
                true => format!("{name}=\"{value}\""),
                false => format!("{name}={value}"),
            })
            .collect();
        lines.push(row(
            "returns",
            &format!("at {} to {}", plain(&due["at"]), back.join(" ")),
        ));
    }
    if answer["backlog_holds_back"] == true {
        lines.push(row("backlog_holds_back", "true: this node admits nobody new for now"));
    }
    if answer["ledger_pending"] == true {
        lines.push("the database does not know it yet; it is told when it is back".to_owned());
    }
    lines
}

/// What a value means that does not say it itself.
fn note(answer: &Value, name: &str, value: &str) -> String {
    match (name, value) {
        ("backlog_resume", _) if answer["backlog_resume_derived"] == true => {
            " (80 % of backlog_max: nobody has set it)".to_owned()
        }
        ("challenge", "null") => " (as each sale says)".to_owned(),
        ("admit_ratio", _) if answer["auto_admit_ratio"].as_f64().is_some_and(|own| own < 1.0) => {
            format!(" (this node by itself: {})", answer["auto_admit_ratio"])
        }
        (_, "null") => match name.strip_prefix("limits.") {
            Some(limit) => format!(" ({})", plain(&answer["limits_in_force"][limit])),
            None => String::new(),
        },
        _ => String::new(),
    }
}

/// What a change would do to the switches, those that it `named` and leaves as they are included, and to buyers.
pub(super) fn rehearsed(answer: &Value, effects: &[Value], named: &[&str]) -> Vec<String> {
    let (before, after) = (members(&answer["before"]), members(&answer["after"]));
    let mut lines: Vec<_> = after
        .iter()
        .filter(|member| !before.contains(member))
        .map(|(name, value)| {
            let was = before.iter().find(|(before, _)| before == name);
            let was = was.map_or("-", |(_, value)| value);
            format!("{name}: {was} -> {value}")
        })
        .collect();
    let stays = |(name, value): &&(String, String)| {
        named.contains(&name.as_str()) && before.contains(&(name.clone(), value.clone()))
    };
    let staying = after.iter().filter(stays);
    lines.extend(staying.map(|(name, value)| format!("{name}: {value} as it is, would not change")));
    lines.extend(effects.iter().map(effect));
    if effects.is_empty() {
        lines.push("nobody hears anything else".to_owned());
    }
    lines.push("nothing was changed; without --dry-run it is".to_owned());
    lines
}

fn effect(effect: &Value) -> String {
    let hears = match effect["hears"].as_u64() {
        Some(0) => "gets what he asked for".to_owned(),
        _ => format!("hears {}", effect["hears"]),
    };
    let until = effect["until"].as_str().map(|at| format!(", until {at}"));
    let (who, instead_of) = (plain(&effect["who"]), plain(&effect["instead_of"]));
    format!("{who}: {hears}, instead of {instead_of}{}", until.unwrap_or_default())
}

/// The switches of an object, those of an inner one as `limits.ip`.
fn members(object: &Value) -> Vec<(String, String)> {
    let present = NAMES.iter().filter_map(|name| Some((*name, object.get(name)?)));
    present
        .flat_map(|(name, value)| match value.as_object() {
            None => vec![(name.to_owned(), plain(value))],
            Some(inner) => inner
                .iter()
                .map(|(member, value)| (format!("{name}.{member}"), plain(value)))
                .collect(),
        })
        .collect()
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
