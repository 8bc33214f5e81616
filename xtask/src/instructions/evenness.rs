//! P8: a claim costs the same however many buyers a sale has and however many sales are open.
//!
//! A ratio between counts of one run, so it needs no blessed figures.

use super::Counts;

/// Scenarios that differ in size only: what their names begin with, and the smallest of them.
const FAMILIES: &[(&str, &str)] = &[
    ("claim/buyers-", "claim/buyers-1000"),
    ("claim/activities-", "claim/activities-1"),
];

/// How far a scenario may be off the smallest of its family, in percent.
const TOLERANCE_PERCENT: f64 = 10.0;

/// Prints how even each family is, and gives back a sentence for each scenario that is off.
pub(super) fn check(counts: &Counts) -> Vec<String> {
    FAMILIES
        .iter()
        .flat_map(|family| check_family(*family, counts))
        .collect()
}

fn check_family((prefix, smallest): (&str, &str), counts: &Counts) -> Vec<String> {
    let Some(base) = counts.get(smallest) else {
        return vec![format!("{smallest} was not counted, so {prefix}* cannot be judged")];
    };
    let others = counts.iter().filter(|(name, _)| name.starts_with(prefix));
    let changes: Vec<(&str, f64)> = others
        .map(|(name, count)| (name.as_str(), 100.0 * (count / base - 1.0)))
        .collect();
    let said: Vec<String> = changes
        .iter()
        .map(|(name, change)| format!("{name} {change:+.1} %"))
        .collect();
    println!("beside {smallest}: {}", said.join(", "));
    let off = changes
        .into_iter()
        .filter(|(_, change)| TOLERANCE_PERCENT < change.abs());
    off.map(|(name, change)| {
        format!("{name} is off {smallest} by {change:+.1} %, {TOLERANCE_PERCENT} % are allowed (P8)")
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(thousand: f64, million: f64, hundred: f64) -> Counts {
        let rows = [
            ("claim/activities-1", 1000.0),
            ("claim/activities-100", hundred),
            ("claim/buyers-1000", thousand),
            ("claim/buyers-1000000", million),
            ("gate/seen", 9.0),
        ];
        rows.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
    }

    #[test]
    fn a_family_within_the_tolerance_is_even() {
        assert!(check(&counts(1000.0, 901.0, 1099.0)).is_empty());
    }

    #[test]
    fn each_scenario_that_is_off_in_either_direction_is_named() {
        let said = check(&counts(1000.0, 899.0, 1101.0));
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(
            said[0].starts_with("claim/buyers-1000000 is off claim/buyers-1000 by -10.1 %"),
            "{said:?}"
        );
        assert!(
            said[1].starts_with("claim/activities-100 is off claim/activities-1 by +10.1 %"),
            "{said:?}"
        );
    }

    #[test]
    fn a_family_without_its_smallest_is_not_passed_over() {
        let mut counts = counts(1000.0, 1000.0, 1000.0);
        counts.remove("claim/buyers-1000");
        assert_eq!(check(&counts).len(), 1);
    }
}
