//! Some of the switches, each with a value: what a change names, and what goes back later.

use std::fmt;
use std::marker::PhantomData;

use seckill_sale::Challenge;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{AutoAdmit, Switches};
use crate::limits::per_limit::PerLimit;
use crate::limits::rate::Limit;

/// Values of some switches; the others are not named.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Members {
    /// As [`Switches::entry_open`].
    #[serde(deserialize_with = "named", skip_serializing_if = "Option::is_none")]
    pub entry_open: Option<bool>,
    /// As [`Switches::admit_ratio`].
    #[serde(deserialize_with = "named", skip_serializing_if = "Option::is_none")]
    pub admit_ratio: Option<f64>,
    /// As [`Switches::read_only`].
    #[serde(deserialize_with = "named", skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// As [`Switches::backlog_max`].
    #[serde(deserialize_with = "named", skip_serializing_if = "Option::is_none")]
    pub backlog_max: Option<u64>,
    /// As [`Switches::backlog_resume_at`].
    #[serde(deserialize_with = "named", skip_serializing_if = "Option::is_none")]
    pub backlog_resume: Option<Option<u64>>,
    /// As [`Switches::backlog_oldest_max_s`].
    #[serde(deserialize_with = "named", skip_serializing_if = "Option::is_none")]
    pub backlog_oldest_max_s: Option<u64>,
    /// As [`Switches::auto_admit`].
    #[serde(deserialize_with = "named", skip_serializing_if = "Option::is_none")]
    pub auto_admit: Option<AutoAdmit>,
    /// As [`Switches::challenge`].
    #[serde(deserialize_with = "named", skip_serializing_if = "Option::is_none")]
    pub challenge: Option<Option<Challenge>>,
    /// As [`Switches::limits`].
    #[serde(
        deserialize_with = "named_limits",
        serialize_with = "write_named",
        skip_serializing_if = "names_none"
    )]
    pub limits: LimitMembers,
}

/// Some of the limits.
pub(super) type LimitMembers = PerLimit<Option<Option<Limit>>>;

fn names_none(limits: &LimitMembers) -> bool {
    *limits == LimitMembers::default()
}

fn write_named<S: Serializer>(limits: &LimitMembers, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(limits.named().filter_map(|(name, limit)| Some((name, limit?))))
}

/// As [`named`], for each of the limits.
pub(super) fn named_limits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LimitMembers, D::Error> {
    #[derive(Default, Deserialize)]
    #[serde(transparent)]
    struct Named(#[serde(deserialize_with = "named")] Option<Option<Limit>>);

    let limits = object::<PerLimit<Named>, D>(deserializer)?;
    Ok(limits.map(|Named(limit)| limit))
}

/// A member that stands there, `null` included, apart from one that does not.
pub(super) fn named<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// An object alone: a derived reader would take an array, too, member by member, and so `[]` for a change of nothing.
pub(super) fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
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

/// Members of which each comes from the same member of two others.
macro_rules! member_by_member {
    ($of:ident, $one:expr, $other:expr) => {{
        let (one, other): (&Members, &Members) = ($one, $other);
        Members {
            entry_open: $of(one.entry_open, other.entry_open),
            admit_ratio: $of(one.admit_ratio, other.admit_ratio),
            read_only: $of(one.read_only, other.read_only),
            backlog_max: $of(one.backlog_max, other.backlog_max),
            backlog_resume: $of(one.backlog_resume, other.backlog_resume),
            backlog_oldest_max_s: $of(one.backlog_oldest_max_s, other.backlog_oldest_max_s),
            auto_admit: $of(one.auto_admit, other.auto_admit),
            challenge: $of(one.challenge, other.challenge),
            limits: one.limits.zip(other.limits).map(|(one, other)| $of(one, other)),
        }
    }};
}

impl Members {
    /// All of them, as they are in `switches`.
    #[must_use]
    pub fn of(switches: &Switches) -> Self {
        Self {
            entry_open: Some(switches.entry_open),
            admit_ratio: Some(switches.admit_ratio),
            read_only: Some(switches.read_only),
            backlog_max: Some(switches.backlog_max),
            backlog_resume: Some(switches.backlog_resume_at),
            backlog_oldest_max_s: Some(switches.backlog_oldest_max_s),
            auto_admit: Some(switches.auto_admit),
            challenge: Some(switches.challenge),
            limits: switches.limits.map(Some),
        }
    }

    /// Whether none is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Those that `others` does not name.
    #[must_use]
    pub fn without(&self, others: &Self) -> Self {
        const fn of<T: Copy>(kept: Option<T>, named: Option<T>) -> Option<T> {
            if named.is_some() { None } else { kept }
        }
        member_by_member!(of, self, others)
    }

    /// Those that `others` names, too.
    #[must_use]
    pub fn only(&self, others: &Self) -> Self {
        const fn of<T: Copy>(kept: Option<T>, named: Option<T>) -> Option<T> {
            if named.is_some() { kept } else { None }
        }
        member_by_member!(of, self, others)
    }

    /// These, and those of `others` that are not named here.
    #[must_use]
    pub fn or(&self, others: &Self) -> Self {
        const fn of<T: Copy>(one: Option<T>, other: Option<T>) -> Option<T> {
            if one.is_some() { one } else { other }
        }
        member_by_member!(of, self, others)
    }

    /// Sets what is named.
    pub(super) fn put_into(&self, switches: &mut Switches) {
        switches.entry_open = self.entry_open.unwrap_or(switches.entry_open);
        switches.admit_ratio = self.admit_ratio.unwrap_or(switches.admit_ratio);
        switches.read_only = self.read_only.unwrap_or(switches.read_only);
        switches.backlog_max = self.backlog_max.unwrap_or(switches.backlog_max);
        switches.backlog_resume_at = self.backlog_resume.unwrap_or(switches.backlog_resume_at);
        switches.backlog_oldest_max_s = self.backlog_oldest_max_s.unwrap_or(switches.backlog_oldest_max_s);
        switches.auto_admit = self.auto_admit.unwrap_or(switches.auto_admit);
        switches.challenge = self.challenge.unwrap_or(switches.challenge);
        let limits = self.limits.zip(switches.limits);
        switches.limits = limits.map(|(named, present)| named.unwrap_or(present));
    }
}
