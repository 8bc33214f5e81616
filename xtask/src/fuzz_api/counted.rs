//! What a server counts of its own answers, read from its page of metrics.

use std::collections::BTreeMap;

use super::operations::Operation;

/// What a page of metrics has of answers.
pub(super) struct Counted {
    /// How many there were.
    pub(super) answers: u64,
    /// Lines of answers that are bugs.
    pub(super) bugs: Vec<String>,
    by_operation: BTreeMap<Operation, u64>,
}

impl Counted {
    /// How often an operation was answered since `before`.
    pub(super) fn since(&self, before: &Self, operation: &Operation) -> u64 {
        let of = |counted: &Self| counted.by_operation.get(operation).copied().unwrap_or(0);
        of(self) - of(before)
    }
}

pub(super) fn counted(page: &str) -> Counted {
    let mut counted = Counted {
        answers: 0,
        bugs: Vec::new(),
        by_operation: BTreeMap::new(),
    };
    for line in page.lines() {
        let Some(count) = line.rsplit(' ').next().and_then(|count| count.parse::<u64>().ok()) else {
            continue;
        };
        let labels = line.strip_prefix("seckill_http_requests_total{");
        let is_bug = (labels.is_some() && line.contains("code=\"5") && !line.contains("code=\"503\""))
            || line.starts_with("seckill_panics_total");
        if is_bug && 0 < count {
            counted.bugs.push(line.to_owned());
        }
        if let Some(labels) = labels {
            counted.answers += count;
            let operation = Operation {
                path: label(labels, "route").to_owned(),
                method: label(labels, "method").to_owned(),
            };
            *counted.by_operation.entry(operation).or_default() += count;
        }
    }
    counted
}

/// A label's value; no route has a quotation mark.
fn label<'a>(labels: &'a str, name: &str) -> &'a str {
    let rest = labels.split_once(name).and_then(|(_, rest)| rest.strip_prefix("=\""));
    rest.and_then(|rest| rest.split('"').next()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(method: &str, code: u16, count: u64) -> String {
        format!("seckill_http_requests_total{{route=\"/a/{{id}}\",method=\"{method}\",code=\"{code}\"}} {count}\n")
    }

    #[test]
    fn every_5xx_but_503_and_every_panic_is_a_bug() {
        let page = [
            line("GET", 200, 5),
            line("GET", 503, 2),
            line("GET", 404, 1),
            "# HELP x y\nseckill_panics_total 0\n".to_owned(),
        ]
        .concat();
        let fine = counted(&page);
        assert_eq!((fine.answers, fine.bugs.len()), (8, 0));
        assert_eq!(counted(&line("GET", 500, 1)).bugs.len(), 1);
        assert_eq!(counted(&line("GET", 502, 3)).bugs.len(), 1);
        assert_eq!(counted("seckill_panics_total 1\n").bugs.len(), 1);
    }

    #[test]
    fn answers_of_an_operation_are_added_up_and_those_from_before_taken_away() {
        let before = counted(&line("GET", 200, 5));
        let after = counted(&[line("GET", 200, 6), line("GET", 404, 2), line("POST", 405, 9)].concat());
        let asked = |method: &str| {
            let operation = Operation {
                path: "/a/{id}".to_owned(),
                method: method.to_owned(),
            };
            after.since(&before, &operation)
        };
        assert_eq!([asked("GET"), asked("POST"), asked("PUT")], [3, 9, 0]);
    }
}
