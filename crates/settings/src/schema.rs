//! JSON Schema of the settings file, made from the same table that checks it: an editor then completes keys and shows their meaning.

use serde_json::{Map, Value as Json, json};

use crate::kind::Kind;
use crate::table::{self, Key};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
const DURATION: &str = "^([0-9]+(d|h|m|s|ms|us))+$";
const RATE: &str = "^(off|[0-9]+/(s|min)( burst [0-9]+)?)$";

/// JSON Schema (2020-12) of `seckill.toml`.
#[must_use]
pub fn schema() -> Json {
    let mut top = Map::new();
    for key in table::keys() {
        let (section, name) = key.parts();
        let place = if section.is_empty() {
            &mut top
        } else {
            properties(&mut top, section)
        };
        place.insert(name.to_owned(), of_key(key));
        if key.kind.is_confidential() {
            let description = format!("Path of a file that holds the value of {}.", key.name);
            place.insert(
                format!("{name}_file"),
                json!({ "type": "string", "description": description }),
            );
        }
    }
    json!({ "$schema": DRAFT, "title": "seckill.toml", "type": "object", "additionalProperties": false, "properties": top })
}

fn properties<'a>(top: &'a mut Map<String, Json>, section: &str) -> &'a mut Map<String, Json> {
    let empty = || json!({ "type": "object", "additionalProperties": false, "properties": {} });
    let object = top.entry(section).or_insert_with(empty);
    object["properties"].as_object_mut().expect("a section has properties")
}

fn of_key(key: &Key) -> Json {
    let mut schema = match &key.kind {
        Kind::Whole { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Switch => json!({ "type": "boolean" }),
        Kind::Choice(names) => json!({ "type": "string", "enum": names }),
        Kind::Duration { .. } => json!({ "type": "string", "pattern": DURATION }),
        Kind::Rate => json!({ "type": "string", "pattern": RATE }),
        Kind::Secret => json!({ "type": "string", "writeOnly": true }),
        Kind::Secrets => json!({ "type": "array", "items": { "type": "string" }, "writeOnly": true }),
        kind if kind.is_list() => json!({ "type": "array", "items": { "type": "string" } }),
        _ => json!({ "type": "string" }),
    };
    let expected = key.kind.expected();
    schema["description"] = json!(format!(
        "{} Takes {expected}. Environment: {}.",
        key.doc,
        key.variable()
    ));
    schema["default"] = key.default.shown();
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_has_every_key_with_meaning_and_default() {
        let schema = schema();
        for key in table::keys() {
            let (section, name) = key.parts();
            let place = if section.is_empty() {
                &schema["properties"]
            } else {
                &schema["properties"][section]["properties"]
            };
            assert_eq!(place[name]["default"], key.default.shown(), "{}", key.name);
            assert!(
                place[name]["description"]
                    .as_str()
                    .is_some_and(|text| text.contains(&key.doc)),
                "{}",
                key.name
            );
        }
        assert_eq!(schema["properties"]["server"]["additionalProperties"], json!(false));
        assert_eq!(
            schema["properties"]["queue"]["properties"]["workers"]["maximum"],
            json!(256)
        );
        assert_eq!(
            schema["properties"]["auth"]["properties"]["jwt_secret_file"]["type"],
            json!("string")
        );
    }
}
