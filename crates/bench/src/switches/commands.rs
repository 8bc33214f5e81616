//! How each switch is turned.

use serde_json::{Value, json};

use super::switch::Switch;
use crate::admin::Command;

/// Room for tickets where nothing else is said: the product's default.
const BACKLOG_MAX: u64 = 200_000;
/// Room for tickets while that is what is measured, and how few must be left before admissions begin again.
pub(super) const BACKLOG_MAX_TURNED: u64 = 100;
const BACKLOG_RESUME_TURNED: u64 = 50;

/// In which sale and for whom they are turned.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    /// The sale that new buyers come to.
    pub(super) sale: u64,
    /// The marked buyer's.
    pub(super) other_sale: u64,
    pub(super) marked: Marked,
}

/// A buyer who comes again and again, as the same user from the same place, and has a ticket.
#[derive(Debug, Clone)]
pub(super) struct Marked {
    pub(super) user: String,
    pub(super) address: std::net::Ipv4Addr,
    pub(super) device: String,
}

impl Switch {
    /// How it is turned on or off.
    pub(super) fn command(self, on: bool, scene: &Scene) -> Command {
        match self {
            Self::Pause => {
                let (sale, word) = (scene.sale, if on { "pause" } else { "resume" });
                post(format!("/admin/api/activities/{sale}/{word}"), json!({}))
            }
            Self::BlockUser => block(on, "user", &scene.marked.user),
            Self::BlockIp => block(on, "ip", &scene.marked.address.to_string()),
            Self::BlockDevice => block(on, "device", &scene.marked.device),
            _ => patch(self.change(on)),
        }
    }

    fn change(self, on: bool) -> Value {
        match self {
            Self::ReadOnly => json!({ "read_only": on }),
            Self::AdmitRatio => json!({"admit_ratio": if on { 0 } else { 1 }}),
            Self::Challenge => json!({"challenge": on.then_some("token")}),
            Self::Backlog if on => {
                json!({"backlog_max": BACKLOG_MAX_TURNED, "backlog_resume": BACKLOG_RESUME_TURNED})
            }
            Self::Backlog => json!({"backlog_max": BACKLOG_MAX, "backlog_resume": null}),
            _ => match self.name().strip_prefix("limits.") {
                Some(limit) => json!({"limits": {limit: on.then_some("1/min burst 1")}}),
                None => json!({ "entry_open": !on }),
            },
        }
    }
}

/// A change of the switches.
pub(super) fn patch(body: Value) -> Command {
    Command {
        method: "PATCH",
        path: "/admin/api/switches".to_owned(),
        body,
    }
}

/// A command at this path.
pub(super) fn post(path: String, body: Value) -> Command {
    Command {
        method: "POST",
        path,
        body,
    }
}

fn block(on: bool, kind: &str, value: &str) -> Command {
    Command {
        method: if on { "POST" } else { "DELETE" },
        path: "/admin/api/blocks".to_owned(),
        body: json!({"kind": kind, "value": value}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_is_turned_by_its_own_word_and_back() {
        let scene = Scene {
            sale: 7,
            other_sale: 8,
            marked: Marked {
                user: "u".into(),
                address: [192, 0, 2, 1].into(),
                device: "d".into(),
            },
        };
        for switch in Switch::ALL {
            let (on, off) = (switch.command(true, &scene), switch.command(false, &scene));
            assert_ne!(on, off, "{switch:?}");
            let said = format!("{} {}", on.path, on.body);
            let word = switch.name().rsplit(['.', ' ']).next().expect("a word");
            assert!(said.contains(word), "{said}");
        }
    }
}
