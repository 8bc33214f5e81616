//! Settings and versions, as a table.

use seckill_sale::{Finding, Severity};

/// A setting of the server, what it must not be, and why.
pub(super) struct Rule {
    pub(super) setting: &'static str,
    is_good: fn(&str) -> bool,
    otherwise: Severity,
    why: &'static str,
    /// Where it matters.
    of: Of,
}

/// Stores that a setting matters to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    All,
    Cluster,
    /// Behind Sentinel, where no copies are waited for.
    SentinelUncopied,
}

/// What kind of store is examined.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    pub(super) is_cluster: bool,
    pub(super) is_sentinel: bool,
    /// Whether each admission waits for its copies.
    pub(super) waits_for_copies: bool,
}

pub(super) const RULES: &[Rule] = &[
    Rule {
        setting: "maxmemory-policy",
        is_good: |value| value == "noeviction",
        otherwise: Severity::Failed,
        why: "a full server would drop stock, buyers or tickets; it must be noeviction",
        of: Of::All,
    },
    Rule {
        setting: "appendonly",
        is_good: |value| value == "yes",
        otherwise: Severity::Failed,
        why: "a restart would forget every sale since the last snapshot; it must be yes",
        of: Of::All,
    },
    Rule {
        setting: "appendfsync",
        is_good: |value| value == "always",
        otherwise: Severity::Warning,
        why: "up to 2 s of acknowledged tickets are lost with the server's machine; always loses none",
        of: Of::All,
    },
    Rule {
        setting: "no-appendfsync-on-rewrite",
        is_good: |value| value == "no",
        otherwise: Severity::Warning,
        why: "nothing is synced while the log is rewritten",
        of: Of::All,
    },
    Rule {
        setting: "cluster-require-full-coverage",
        is_good: |value| value == "no",
        otherwise: Severity::Warning,
        why: "where one master is lost, the others stop their sales, too, until it is replaced; no lets them go on",
        of: Of::Cluster,
    },
    Rule {
        setting: "min-replicas-to-write",
        is_good: |value| value != "0",
        otherwise: Severity::Warning,
        why: "a master that is cut off from its replicas goes on admitting, and what it admits is lost when another takes its place; set it to 1, \
              or store.durability to wait:1",
        of: Of::SentinelUncopied,
    },
];

impl Rule {
    /// Whether it is asked of such a store.
    pub(super) const fn is_for(&self, kind: Kind) -> bool {
        match self.of {
            Of::All => true,
            Of::Cluster => kind.is_cluster,
            Of::SentinelUncopied => kind.is_sentinel && !kind.waits_for_copies,
        }
    }

    /// What the setting's value comes to; none where the server does not show it.
    pub(super) fn judge(&self, value: Option<&str>) -> Finding {
        match value {
            None => Finding::new(
                self.setting,
                Severity::Warning,
                format!("the server does not show {}; see to it yourself", self.setting),
            ),
            Some(value) if (self.is_good)(value) => {
                Finding::new(self.setting, Severity::Passed, format!("{} is {value}", self.setting))
            }
            Some(value) => Finding::new(
                self.setting,
                self.otherwise,
                format!("{} {value}: {}", self.setting, self.why),
            ),
        }
    }
}

/// Scripts that begin with `#!lua`, shard channels, and XAUTOCLAIM as they use it, came with this version.
const VERSION_MIN: u32 = 7;

/// What the server says of itself.
pub(super) fn of_info(info: &str, is_cluster: bool) -> Vec<Finding> {
    let field = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    // Valkey tells the version of Redis that it is like, and its own, which began at 7.2.
    let version = field("valkey_version").or(field("redis_version")).map(str::trim);
    let major = version.and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    let mut found = vec![match (version, major) {
        (Some(version), Some(major)) if major < VERSION_MIN => Finding::new(
            "version",
            Severity::Failed,
            format!("version {version}: it must be {VERSION_MIN}.0 or newer"),
        ),
        (Some(version), Some(_)) => Finding::new("version", Severity::Passed, format!("version {version}")),
        _ => Finding::new(
            "version",
            Severity::Warning,
            "the server does not tell its version (INFO)",
        ),
    }];
    if !is_cluster && field("redis_mode").is_some_and(|mode| mode.trim() == "cluster") {
        let sentence = "the server belongs to a cluster: the address must begin with redis-cluster://";
        found.push(Finding::new("servers", Severity::Failed, sentence));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn severity(info: &str) -> Vec<Severity> {
        of_info(info, false).iter().map(|finding| finding.severity).collect()
    }

    #[test]
    fn versions_before_7_and_nodes_of_a_cluster_under_a_plain_address_are_refused() {
        assert_eq!(
            severity("redis_version:6.2.14\r\nredis_mode:standalone\r\n"),
            [Severity::Failed]
        );
        assert_eq!(
            severity("redis_version:7.0.15\r\nredis_mode:standalone\r\n"),
            [Severity::Passed]
        );
        assert_eq!(
            severity("redis_version:7.2.4\r\nvalkey_version:9.1.2\r\n"),
            [Severity::Passed]
        );
        assert_eq!(severity("redis_version:10.0.0\r\n"), [Severity::Passed]);
        assert_eq!(severity(""), [Severity::Warning]);
        let cluster = severity("redis_version:7.0.15\r\nredis_mode:cluster\r\n");
        assert_eq!(cluster, [Severity::Passed, Severity::Failed]);
    }
}
