//! Claims of a token beyond its user and its times, where the settings ask for any: those that must be there, and the user's level.
//!
//! They are read from the claims' text a second time, so that whoever asks for none pays nothing for them, and once for each token: what they
//! come to is kept with the verified token.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::identity::Expectations;

/// A claim that tokens must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredClaim {
    name: String,
    /// What it must say; none: whatever it says.
    value: Option<String>,
}

impl RequiredClaim {
    /// Reads `name` or `name=value`; none where there is no name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let name = name.trim();
        (!name.is_empty()).then(|| Self {
            name: name.to_owned(),
            value,
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it must say.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }

    fn is_met_by(&self, said: &Value) -> bool {
        match &self.value {
            None => !said.is_null(),
            Some(value) => says(said, value),
        }
    }
}

/// Whether a claim says `value`: as a text, a number or a truth, or as one of several.
fn says(said: &Value, value: &str) -> bool {
    match said {
        Value::String(text) => text == value,
        Value::Number(number) => number.to_string() == value,
        Value::Bool(truth) => truth.to_string() == value,
        Value::Array(several) => several.iter().any(|one| !one.is_array() && says(one, value)),
        Value::Null | Value::Object(_) => false,
    }
}

/// What the settings ask for, of a token whose signature is right.
pub(crate) struct MoreClaims {
    /// The level, where the claim is a whole number from 0 on that 32 bits hold.
    pub(crate) level: Option<u32>,
}

impl MoreClaims {
    /// None where the token lacks a required claim, or has one of those that are looked at twice.
    pub(crate) fn of(token: &str, expected: &Expectations) -> Option<Self> {
        let (_, rest) = token.split_once('.')?;
        let (claims, _) = rest.split_once('.')?;
        let text = URL_SAFE_NO_PAD.decode(claims).ok()?;
        let named = serde_json::Deserializer::from_slice(&text)
            .deserialize_map(Named(expected))
            .ok()?;
        let found = |name: &str| named.iter().find(|(known, _)| known == name).map(|(_, said)| said);
        let met = |claim: &RequiredClaim| found(&claim.name).is_some_and(|said| claim.is_met_by(said));
        if !expected.required.iter().all(met) {
            return None;
        }
        let level = expected.level_claim.as_deref().and_then(found).and_then(Value::as_u64);
        Some(Self {
            level: level.and_then(|level| u32::try_from(level).ok()),
        })
    }
}

/// Keeps the members that are asked for.
struct Named<'a>(&'a Expectations);

impl<'de> Visitor<'de> for Named<'_> {
    type Value = Vec<(String, Value)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut kept: Self::Value = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            let asked = self.0.level_claim.as_ref() == Some(&name) || self.0.required.iter().any(|c| c.name == name);
            if !asked {
                members.next_value::<IgnoredAny>()?;
            } else if kept.iter().any(|(known, _)| *known == name) {
                return Err(A::Error::custom("a claim stands there twice"));
            } else {
                kept.push((name, members.next_value()?));
            }
        }
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_claims_are_a_name_or_a_name_and_what_it_says() {
        let read = |text| RequiredClaim::parse(text).map(|claim| (claim.name, claim.value));
        assert_eq!(read("role"), Some(("role".to_owned(), None)));
        assert_eq!(read("role=a=b"), Some(("role".to_owned(), Some("a=b".to_owned()))));
        assert_eq!(read("role="), Some(("role".to_owned(), Some(String::new()))));
        for bad in ["", " ", "=x"] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }
}
