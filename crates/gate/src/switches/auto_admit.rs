//! Whether, and from when on, a slow store lowers the share of purchases that is let in.

use std::fmt;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Error;

/// Latency of the store that counts as slow where nobody has said otherwise, in milliseconds.
const STORE_P99_MS: u32 = 250;
/// What the share rises by in a second where nobody has said otherwise: from its floor it is whole again within five. With half of that honest
/// buyers would be refused for longer than ten seconds after an overload.
const STEP: f64 = 0.2;

/// `"off"`, or `{"store_p99_ms": 250, "step": 0.2}`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AutoAdmit {
    /// It never does.
    Off,
    /// It does.
    On {
        /// 99 of 100 steps of the store take no longer, or it is slow; from 1 to 60,000.
        store_p99_ms: u32,
        /// What the share rises by in each second in which the store is quick again; from 0.01 to 1.
        step: f64,
    },
}

impl Default for AutoAdmit {
    fn default() -> Self {
        Self::On {
            store_p99_ms: STORE_P99_MS,
            step: STEP,
        }
    }
}

impl AutoAdmit {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn check(self) -> Result<(), Error> {
        match self {
            Self::On { store_p99_ms, step }
                if !(1..=60_000).contains(&store_p99_ms) || !(0.01..=1.0).contains(&step) =>
            {
                Err(Error::AutoAdmit)
            }
            _ => Ok(()),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    store_p99_ms: u32,
    #[serde(default = "step")]
    step: f64,
}

const fn step() -> f64 {
    STEP
}

impl Serialize for AutoAdmit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Off => serializer.serialize_str("off"),
            Self::On { store_p99_ms, step } => Form { store_p99_ms, step }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for AutoAdmit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = AutoAdmit;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(r#""off" or an object with store_p99_ms and step"#)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<AutoAdmit, E> {
                match text {
                    "off" => Ok(AutoAdmit::Off),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }

            fn visit_map<M: MapAccess<'de>>(self, members: M) -> Result<AutoAdmit, M::Error> {
                let Form { store_p99_ms, step } = Form::deserialize(de::value::MapAccessDeserializer::new(members))?;
                Ok(AutoAdmit::On { store_p99_ms, step })
            }
        }

        deserializer.deserialize_any(Either)
    }
}
