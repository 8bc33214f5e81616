//! What a reconciliation found, for people: which differences were mended, which are open, and what to do about those.

use serde_json::Value;

/// Differences that this call did not put right.
pub(super) fn open(report: &Value) -> impl Iterator<Item = &Value> {
    differences(report).filter(|difference| difference["fixed"] != true)
}

fn differences(report: &Value) -> impl Iterator<Item = &Value> {
    report["differences"].as_array().into_iter().flatten()
}

/// A line a difference, then what they come to.
pub(super) fn lines(report: &Value, id: u64, fix: bool) -> Vec<String> {
    let mut lines: Vec<_> = differences(report).map(line).collect();
    let (all, open_count) = (lines.len(), open(report).count());
    if all == 0 {
        lines.push(format!(
            "activity {id}: store and database agree on every buyer; there are no differences"
        ));
        return lines;
    }
    lines.push(if fix {
        format!(
            "{} of {all} differences mended (fixed), {open_count} left (open)",
            all - open_count
        )
    } else {
        format!("{all} differences, all open: nothing was changed; `seckill reconcile {id} --fix` mends what can be mended safely")
    });
    if report["truncated"] == true {
        lines.push("there are more than are listed: run it again after these are put right".to_owned());
    }
    lines.extend(remedies(report));
    lines
}

/// What to do about each kind that is open.
fn remedies(report: &Value) -> impl Iterator<Item = String> {
    let open_kinds: Vec<_> = open(report).map(|difference| difference["kind"].clone()).collect();
    let listed = report["remedies"].as_array().into_iter().flatten();
    listed
        .filter(move |remedy| open_kinds.contains(&remedy["kind"]))
        .map(|remedy| format!("open {}: {}", text(&remedy["kind"]), text(&remedy["remedy"])))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}

fn line(difference: &Value) -> String {
    let fixed = if difference["fixed"] == true { "fixed" } else { "open" };
    let members =
        ["user", "ticket", "kind", "store", "ledger"].map(|name| format!("{name}={}", text(&difference[name])));
    format!("{fixed:<5}  {}", members.join("  "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(fixed: &[bool]) -> Value {
        let difference = |fixed: &bool| json!({"user": "b", "ticket": null, "kind": "order_missing", "store": "s", "ledger": "l", "fixed": fixed});
        let differences: Vec<_> = fixed.iter().map(difference).collect();
        json!({
            "differences": differences, "truncated": false,
            "remedies": [{"kind": "order_missing", "remedy": "restore the row"}],
        })
    }

    #[test]
    fn a_sound_sale_is_said_to_have_no_differences() {
        assert!(lines(&report(&[]), 1, false)[0].contains("there are no differences"));
    }

    #[test]
    fn what_was_mended_and_what_a_person_must_do_is_told() {
        let said = lines(&report(&[true, false]), 1, true).join("\n");
        for part in [
            "1 of 2 differences mended (fixed), 1 left (open)",
            "open order_missing: restore the row",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let all_mended = lines(&report(&[true]), 1, true).join("\n");
        assert!(!all_mended.contains("restore the row"), "{all_mended}");
        assert!(
            lines(&report(&[false]), 1, false)
                .join("\n")
                .contains("nothing was changed")
        );
    }
}
