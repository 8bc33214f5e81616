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

/// Scripts that begin with `#!lua`, and XAUTOCLAIM as they use it, came with this version.
const VERSION_MIN: u32 = 7;

/// The server's version where it is too old.
async fn old_version(connection: &mut MultiplexedConnection) -> Option<String> {
    let mut command = redis::cmd("INFO");
    command.arg("server");
    let info: String = command.query_async(connection).await.ok()?;
    let version = info.lines().find_map(|line| line.strip_prefix("redis_version:"))?;
    let major: u32 = version.split('.').next()?.parse().ok()?;
    (major < VERSION_MIN).then(|| format!("version {version}: it must be {VERSION_MIN}.0 or newer"))
}

/// The first setting with which the server is not used, as a sentence; others are logged.
pub(crate) async fn unsafe_setting(connection: &mut MultiplexedConnection) -> Option<String> {
    if let Some(sentence) = old_version(connection).await {
        return Some(sentence);
    }
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
