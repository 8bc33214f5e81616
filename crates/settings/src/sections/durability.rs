//! When an admission counts as durable, on a store that other machines copy.

use std::fmt;

/// Most replicas that are waited for: each is one more that a winner's answer depends on.
const REPLICAS_MAX: u16 = 16;

pub(crate) const EXPECTED: &str =
    "\"server\", or \"wait:N\" or \"waitaof:N\" with a number of replicas up to 16, such as \"wait:1\"";

/// Whose word makes an admission durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The server's, as it is set to keep what it has.
    Server,
    /// That of so many replicas, too, in memory.
    Wait(u16),
    /// The server's and that of so many replicas, on their disks; 0: the server's disk alone.
    WaitAof(u16),
}

impl Durability {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text == "server" {
            return Some(Self::Server);
        }
        let (word, digits) = text.split_once(':')?;
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        let replicas = digits
            .parse()
            .ok()
            .filter(|replicas| is_plain && *replicas <= REPLICAS_MAX)?;
        match (word, replicas) {
            ("wait", 1..) => Some(Self::Wait(replicas)),
            ("waitaof", _) => Some(Self::WaitAof(replicas)),
            _ => None,
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server => f.write_str("server"),
            Self::Wait(replicas) => write!(f, "wait:{replicas}"),
            Self::WaitAof(replicas) => write!(f, "waitaof:{replicas}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, Sources};

    #[test]
    fn durability_reads_as_it_is_written_and_nothing_else_does() {
        for text in ["server", "wait:1", "wait:16", "waitaof:0", "waitaof:2"] {
            assert_eq!(
                Durability::parse(text).map(|read| read.to_string()).as_deref(),
                Some(text)
            );
        }
        for text in [
            "",
            "wait",
            "wait:",
            "wait:0",
            "wait:17",
            "wait:+1",
            "wait:1 ",
            "WAIT:1",
            "waitaof:-1",
            "server:1",
            "always",
        ] {
            assert_eq!(Durability::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn durability_is_for_stores_that_others_copy() {
        let of = |url: &str, durability: &str| {
            let variables = [("SECKILL_STORE__URL", url), ("SECKILL_STORE__DURABILITY", durability)];
            let environment = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let sources = Sources {
                environment: environment.to_vec(),
                ..Sources::default()
            };
            Settings::load(&sources).map(|settings| settings.store.durability)
        };
        assert_eq!(of("embedded", "server").unwrap(), Durability::Server);
        assert_eq!(of("redis://h", "wait:2").unwrap(), Durability::Wait(2));
        assert_eq!(of("redis-sentinel://h/m", "waitaof:0").unwrap(), Durability::WaitAof(0));
        for (url, durability, words) in [
            ("redis://h", "wait:0", "must be \"server\", or \"wait:N\""),
            ("embedded", "wait:1", "does not go with store.url"),
            (
                "redis-cluster://h",
                "waitaof:1",
                "on a cluster no copies are waited for",
            ),
        ] {
            let refused = of(url, durability).unwrap_err().to_string();
            assert!(
                refused.contains("store.durability") && refused.contains(words),
                "{refused}"
            );
        }
    }
}
