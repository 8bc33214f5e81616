//! What an operator turns during the night of a sale: the entrance, the share that is let in, limits. A value with a revision, and the
//! strict form of a change to it. Keeping it over restarts and bringing it to other nodes is somebody else's work.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use seckill_sale::{Activity, Challenge, Refusal};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::limit_switches::LimitSwitches;
use crate::rate::Limit;
use crate::window::check_status;

/// Largest backlog that can be asked for: ten million tickets are about a gigabyte of queue.
const BACKLOG_MAX_MAX: u64 = 10_000_000;

/// All switches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switches {
    /// Whether purchases are let in at all.
    pub entry_open: bool,
    /// Share of purchases that is let in, from 0 to 1; the others hear that it is too busy.
    pub admit_ratio: f64,
    /// Whether everything that would change something is refused.
    pub read_only: bool,
    /// Accepted purchases that may wait for their order, in tickets.
    pub backlog_max: u64,
    /// What every buyer must solve, whatever his activity says; none: as the activity says.
    pub challenge: Option<Challenge>,
    /// Limits in the place of those of the settings.
    pub limits: LimitSwitches,
    /// Counts every change; the larger one is the later one.
    #[serde(default)]
    pub revision: u64,
}

/// Why a change is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The ratio is out of range.
    #[error("admit_ratio must be from 0 to 1")]
    AdmitRatio,
    /// The backlog is out of range.
    #[error("backlog_max must be from 1 to {BACKLOG_MAX_MAX}")]
    BacklogMax,
}

/// A change: names only what changes. `null` takes an override back; where there is nothing to take back it is an error.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(transparent)]
pub struct SwitchesPatch(#[serde(deserialize_with = "object")] Members);

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Members {
    #[serde(deserialize_with = "named")]
    entry_open: Option<bool>,
    #[serde(deserialize_with = "named")]
    admit_ratio: Option<f64>,
    #[serde(deserialize_with = "named")]
    read_only: Option<bool>,
    #[serde(deserialize_with = "named")]
    backlog_max: Option<u64>,
    #[serde(deserialize_with = "named")]
    challenge: Option<Option<Challenge>>,
    #[serde(deserialize_with = "object")]
    limits: LimitMembers,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LimitMembers {
    #[serde(deserialize_with = "named")]
    ip: Option<Option<Limit>>,
    #[serde(deserialize_with = "named")]
    network: Option<Option<Limit>>,
    #[serde(deserialize_with = "named")]
    user: Option<Option<Limit>>,
    #[serde(deserialize_with = "named")]
    device: Option<Option<Limit>>,
    #[serde(deserialize_with = "named")]
    activity: Option<Option<Limit>>,
    #[serde(deserialize_with = "named")]
    node: Option<Option<Limit>>,
}

/// A member that stands there, `null` included, apart from one that does not.
fn named<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// An object alone: a derived reader would take an array, too, member by member, and so `[]` for a change of nothing.
fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Object<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<M: MapAccess<'de>>(self, members: M) -> Result<T, M::Error> {
            T::deserialize(MapAccessDeserializer::new(members))
        }
    }

    deserializer.deserialize_map(Object(PhantomData))
}

impl Switches {
    /// Everything open, with this backlog.
    #[must_use]
    pub fn open(backlog_max: u64) -> Self {
        Self {
            entry_open: true,
            admit_ratio: 1.0,
            read_only: false,
            backlog_max,
            challenge: None,
            limits: LimitSwitches::default(),
            revision: 0,
        }
    }

    /// These switches after `patch`, in the next revision.
    ///
    /// # Errors
    /// [`Error`] where a value is out of range.
    pub fn patched(&self, patch: &SwitchesPatch) -> Result<Self, Error> {
        let SwitchesPatch(patch) = patch;
        let next = Self {
            entry_open: patch.entry_open.unwrap_or(self.entry_open),
            admit_ratio: patch.admit_ratio.unwrap_or(self.admit_ratio),
            read_only: patch.read_only.unwrap_or(self.read_only),
            backlog_max: patch.backlog_max.unwrap_or(self.backlog_max),
            challenge: patch.challenge.unwrap_or(self.challenge),
            limits: LimitSwitches {
                ip: patch.limits.ip.unwrap_or(self.limits.ip),
                network: patch.limits.network.unwrap_or(self.limits.network),
                user: patch.limits.user.unwrap_or(self.limits.user),
                device: patch.limits.device.unwrap_or(self.limits.device),
                activity: patch.limits.activity.unwrap_or(self.limits.activity),
                node: patch.limits.node.unwrap_or(self.limits.node),
            },
            revision: self.revision + 1,
        };
        next.check()
    }

    /// These switches, if they are in range: for those that were kept or came from another node.
    ///
    /// # Errors
    /// [`Error`].
    pub fn check(self) -> Result<Self, Error> {
        if !(0.0..=1.0).contains(&self.admit_ratio) {
            return Err(Error::AdmitRatio);
        }
        if !(1..=BACKLOG_MAX_MAX).contains(&self.backlog_max) {
            return Err(Error::BacklogMax);
        }
        Ok(self)
    }

    /// What a buyer of `activity` must solve first.
    #[must_use]
    pub fn challenge_of(&self, activity: &Activity) -> Challenge {
        self.challenge.unwrap_or(activity.challenge)
    }

    /// Whether the entrance is open and the sale is not held.
    ///
    /// # Errors
    /// [`Refusal::Paused`].
    pub fn check_open(&self, activity: &Activity) -> Result<(), Refusal> {
        check_status(activity)?;
        let open = self.entry_open && !self.read_only;
        if open {
            Ok(())
        } else {
            Err(Refusal::Paused { resumes_at: None })
        }
    }
}

/// Lets a share of requests through, evenly: of any run of requests, to within one or two, the share asked for.
///
/// It counts instead of hashing the user: whoever comes again has another chance, and nobody is shut out for the whole night.
#[derive(Debug, Default)]
pub struct Sieve(AtomicU64);

impl Sieve {
    /// Whether the next request passes.
    ///
    /// # Errors
    /// [`Refusal::Busy`].
    pub fn check(&self, admit_ratio: f64) -> Result<(), Refusal> {
        /// 2⁶⁴ over the golden ratio: its multiples fill the circle most evenly.
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        const CIRCLE: f64 = 18_446_744_073_709_551_616.0;
        if 1.0 <= admit_ratio {
            return Ok(());
        }
        let place = self.0.fetch_add(1, Ordering::Relaxed).wrapping_mul(STEP);
        if (place as f64) < admit_ratio * CIRCLE {
            Ok(())
        } else {
            Err(Refusal::Busy)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(json: &str) -> Result<Switches, String> {
        let patch: SwitchesPatch = serde_json::from_str(json).map_err(|error| error.to_string())?;
        Switches::open(200_000)
            .patched(&patch)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn patch_changes_only_what_it_names() {
        let open = Switches {
            revision: 1,
            ..Switches::open(200_000)
        };
        let unchanged = patched("{}");
        assert_eq!(unchanged.as_ref(), Ok(&open));
        assert_eq!(
            patched(r#"{"entry_open":false}"#),
            Ok(Switches {
                entry_open: false,
                ..open
            })
        );
        assert_eq!(
            patched(r#"{"admit_ratio":0}"#),
            Ok(Switches {
                admit_ratio: 0.0,
                ..open
            })
        );
        let user = Some("5/s burst 9".parse().expect("a limit"));
        let limits = LimitSwitches {
            user,
            ..LimitSwitches::default()
        };
        assert_eq!(
            patched(r#"{"limits":{"user":"5/s burst 9"}}"#),
            Ok(Switches { limits, ..open })
        );
        assert_eq!(
            patched(r#"{"challenge":"token"}"#),
            Ok(Switches {
                challenge: Some(Challenge::Token),
                ..open
            })
        );
    }

    #[test]
    fn null_takes_an_override_back_and_nothing_else() {
        let patch = |json: &str| serde_json::from_str::<SwitchesPatch>(json);
        let before = patched(r#"{"challenge":"token","limits":{"ip":"off"}}"#).expect("fine");
        let change = patch(r#"{"challenge":null,"limits":{"ip":null}}"#).expect("fine");
        let after = before.patched(&change).expect("fine");
        assert_eq!(
            after,
            Switches {
                revision: 2,
                ..Switches::open(200_000)
            }
        );
        for member in ["entry_open", "admit_ratio", "read_only", "backlog_max", "limits"] {
            let json = format!(r#"{{"{member}":null}}"#);
            assert!(patch(&json).is_err(), "{json}");
        }
    }

    #[test]
    fn wrong_patches_are_refused() {
        let bad = [
            r#"{"x":1}"#,
            r#"{"admit_ratio":1.01}"#,
            r#"{"admit_ratio":-0.1}"#,
            r#"{"admit_ratio":"1"}"#,
        ];
        let more = [
            r#"{"backlog_max":0}"#,
            r#"{"backlog_max":-1}"#,
            r#"{"backlog_max":1.5}"#,
            r#"{"limits":{"ip":"fast"}}"#,
        ];
        let most = [
            r#"{"limits":{"read":"off"}}"#,
            r#"{"challenge":"riddle"}"#,
            r#"{"revision":9}"#,
            r#"{"backlog_max":10000001}"#,
        ];
        for json in bad.into_iter().chain(more).chain(most).chain([
            r#"{"entry_open":true,"entry_open":true}"#,
            "[]",
            r#"{"limits":[]}"#,
            "null",
        ]) {
            assert!(patched(json).is_err(), "{json}");
        }
    }

    #[test]
    fn switches_read_back_as_written() {
        let switches = patched(r#"{"admit_ratio":0.25,"limits":{"ip":"off","device":"1/min burst 2"}}"#).expect("fine");
        let json = serde_json::to_string(&switches).expect("plain data");
        assert_eq!(serde_json::from_str::<Switches>(&json).expect("as written"), switches);
    }

    #[test]
    fn sieve_lets_the_share_through_evenly() {
        for (ratio, expect) in [(0.0, 0), (0.01, 10), (0.5, 500), (0.9, 900), (1.0, 1000)] {
            let sieve = Sieve::default();
            let passed = (0..1000).filter(|_| sieve.check(ratio).is_ok()).count();
            assert!(passed.abs_diff(expect) <= 2, "{ratio}: {passed}");
        }
    }
}
