//! Settings of the server that would lose sales: refused at the start, or warned of.

use redis::Value;
use redis::aio::MultiplexedConnection;

/// A setting of the server, what it must not be, and why.
struct Rule {
    setting: &'static str,
    is_good: fn(&str) -> bool,
    refused: bool,
    why: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        setting: "maxmemory-policy",
        is_good: |value| value == "noeviction",
        refused: true,
        why: "a full server would drop stock, buyers or tickets; it must be noeviction",
    },
    Rule {
        setting: "appendonly",
        is_good: |value| value == "yes",
        refused: true,
        why: "a restart would forget every sale since the last snapshot; it must be yes",
    },
    Rule {
        setting: "appendfsync",
        is_good: |value| value == "always",
        refused: false,
        why: "up to 2 s of acknowledged tickets are lost with the server's machine; always loses none",
    },
    Rule {
        setting: "no-appendfsync-on-rewrite",
        is_good: |value| value == "no",
        refused: false,
        why: "nothing is synced while the log is rewritten",
    },
];

/// The first setting with which the server is not used, as a sentence; others are logged.
pub(crate) async fn unsafe_setting(connection: &mut MultiplexedConnection) -> Option<String> {
    for rule in RULES {
        let mut command = redis::cmd("CONFIG");
        command.arg("GET").arg(rule.setting);
        let pair: Vec<String> = match command.query_async::<Value>(connection).await {
            Ok(value) => redis::from_redis_value(value).unwrap_or_default(),
            Err(error) => {
                tracing::warn!(%error, setting = rule.setting, "the store does not show its settings; see to them yourself");
                return None;
            }
        };
        let Some(value) = pair.get(1).filter(|value| !(rule.is_good)(value)) else {
            continue;
        };
        if rule.refused {
            return Some(format!("{} {value}: {}", rule.setting, rule.why));
        }
        tracing::warn!(setting = rule.setting, value, "{}", rule.why);
    }
    None
}
