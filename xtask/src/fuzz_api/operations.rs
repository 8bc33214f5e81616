//! The operations that a port's document describes, and which of them nobody has asked.

use std::fmt;

use anyhow::Context as _;
use serde_json::Value;

use super::counted::Counted;

/// What a member of a path is a method by.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// A method of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Operation {
    /// As the document and the metrics write it: `/api/activities/{id}`.
    pub(super) path: String,
    /// In capitals.
    pub(super) method: String,
}

impl fmt::Display for Operation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.method, self.path)
    }
}

/// All operations of a document.
///
/// # Errors
/// It is no JSON, or describes nothing.
pub(super) fn operations(document: &str) -> anyhow::Result<Vec<Operation>> {
    let document: Value = serde_json::from_str(document).context("the port's document is no JSON")?;
    let paths = document["paths"].as_object().context("the document has no paths")?;
    let mut operations = Vec::new();
    for (path, members) in paths {
        let methods = members.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        operations.extend(methods.filter(|name| METHODS.contains(name)).map(|name| Operation {
            path: path.clone(),
            method: name.to_uppercase(),
        }));
    }
    anyhow::ensure!(!operations.is_empty(), "the document describes nothing");
    Ok(operations)
}

/// How often the operation was asked that was asked least.
///
/// # Errors
/// Some were never asked; it names them.
pub(super) fn all_were_asked(operations: &[Operation], before: &Counted, after: &Counted) -> anyhow::Result<u64> {
    // Whoever looks at the counts asks for a page of them, and finds that in the next one.
    let own = |operation: &Operation| u64::from(operation.path == "/metrics" && operation.method == "GET");
    let asked = |operation: &Operation| after.since(before, operation).saturating_sub(own(operation));
    let never: Vec<_> = operations
        .iter()
        .filter(|operation| asked(operation) == 0)
        .map(Operation::to_string)
        .collect();
    anyhow::ensure!(
        never.is_empty(),
        "{} of {} operations were never asked: {}",
        never.len(),
        operations.len(),
        never.join(", ")
    );
    Ok(operations.iter().map(asked).min().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::super::counted::counted;
    use super::*;

    const DOCUMENT: &str =
        r#"{"paths": {"/a/{id}": {"parameters": [], "get": {}, "post": {}}, "/metrics": {"get": {}}}}"#;

    fn page(rows: &[(&str, &str, u64)]) -> Counted {
        let line = |(path, method, count): &(&str, &str, u64)| {
            format!("seckill_http_requests_total{{route=\"{path}\",method=\"{method}\",code=\"200\"}} {count}\n")
        };
        counted(&rows.iter().map(line).collect::<String>())
    }

    #[test]
    fn methods_are_operations_and_other_members_are_not() {
        let found: Vec<_> = operations(DOCUMENT).unwrap().iter().map(Operation::to_string).collect();
        assert_eq!(found, ["GET /a/{id}", "POST /a/{id}", "GET /metrics"]);
        assert!(operations(r#"{"paths": {}}"#).is_err());
    }

    #[test]
    fn what_nobody_asked_is_named_and_one_s_own_look_at_the_counts_is_no_asking() {
        let operations = operations(DOCUMENT).unwrap();
        let before = page(&[("/a/{id}", "POST", 7)]);
        let after = page(&[("/a/{id}", "POST", 7), ("/a/{id}", "GET", 1), ("/metrics", "GET", 1)]);
        let error = all_were_asked(&operations, &before, &after).unwrap_err().to_string();
        assert_eq!(error, "2 of 3 operations were never asked: POST /a/{id}, GET /metrics");
        let after = page(&[("/a/{id}", "POST", 9), ("/a/{id}", "GET", 3), ("/metrics", "GET", 5)]);
        assert_eq!(all_were_asked(&operations, &before, &after).unwrap(), 2);
    }
}
