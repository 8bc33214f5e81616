//! JSON objects and nothing else: serde would take an array for a struct, member by member.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// What was read from an object.
#[derive(Debug, Clone)]
pub(crate) struct Object<T>(pub(crate) T);

struct Members<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(Object)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::claims::Claims;

    #[test]
    fn claims_are_an_object() {
        let read = |json: &str| serde_json::from_str::<Object<Claims>>(json).is_ok();
        assert!(read(r#"{"sub":"u","exp":9}"#));
        for bad in [r#"["u",9]"#, r#"["u",9,null,null,null]"#, "null", r#""u""#] {
            assert!(!read(bad), "{bad}");
        }
    }
}
