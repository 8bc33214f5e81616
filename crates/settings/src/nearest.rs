//! The known key that a misspelt one looks most like.

/// The candidate with the smallest edit distance to `name`, where it is near enough to be a slip of the hand. The right last part
/// in the wrong section counts as near: `listen` is offered `server.listen`.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    let last = |text: &str| text.rsplit('.').next().unwrap_or_default().to_owned();
    candidates
        .map(|candidate| {
            let whole = distance(&name, candidate);
            let tail = distance(&last(&name), &last(candidate)) + 1;
            (whole.min(tail), whole, candidate)
        })
        .min()
        .filter(|(best, _, candidate)| *best <= last(candidate).len().max(4) / 2)
        .map(|(_, _, candidate)| candidate)
}

/// Insertions, deletions and replacements between two short texts.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, left_char) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right_char) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(left_char != *right_char);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slip_of_the_hand_is_offered_the_right_key() {
        let keys = [
            "server.listen",
            "admin.listen",
            "limits.ip",
            "queue.backlog_max",
            "data_dir",
        ];
        let check = |typed: &str, expect| assert_eq!(nearest(typed, keys.into_iter()), expect, "{typed}");
        check("server.lisen", Some("server.listen"));
        check("admin.lisen", Some("admin.listen"));
        check("queue.backlog", Some("queue.backlog_max"));
        check("backlog_max", Some("queue.backlog_max"));
        check("datadir", Some("data_dir"));
        check("weather.forecast", None);
    }
}
