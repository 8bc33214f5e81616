//! The value of every setting with where it came from, and how that is shown. Secrets are masked in every form.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use crate::error::Origin;
use crate::table;
use crate::value::Value;

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// All settings as they are in effect.
#[derive(Clone, Debug)]
pub struct Effective {
    entries: BTreeMap<&'static str, Entry>,
}

impl Effective {
    pub(crate) fn defaults() -> Self {
        let entry = |key: &table::Key| Entry {
            value: key.default.clone(),
            origin: Origin::Default,
        };
        Self {
            entries: table::keys()
                .iter()
                .map(|key| (key.name.as_str(), entry(key)))
                .collect(),
        }
    }

    pub(crate) fn set(&mut self, name: &'static str, entry: Entry) {
        self.entries.insert(name, entry);
    }

    /// The entry of a known key.
    pub(crate) fn entry(&self, name: &str) -> &Entry {
        self.entries
            .get(name)
            .unwrap_or_else(|| panic!("the default file has the key {name}"))
    }

    /// Where the value of a key came from; `None` for an unknown key.
    #[must_use]
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        self.entries.get(name).map(|entry| &entry.origin)
    }

    /// A settings file with these values. Behind each stands its source; secrets are masked.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::from("# Settings in effect. Behind each stands where it comes from.\n");
        let mut current = "";
        for key in table::keys() {
            let (section, name) = key.parts();
            if section != current {
                text.push_str(&format!("\n[{section}]\n"));
                current = section;
            }
            let Entry { value, origin } = self.entry(&key.name);
            // A JSON text, number, truth value or list of texts is written the same in TOML.
            text.push_str(&format!("{name} = {} # {origin}\n", value.shown()));
        }
        text
    }

    /// The same as one object: `{"server.listen": {"value": …, "source": …}, …}`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let of = |key: &table::Key| {
            let Entry { value, origin } = self.entry(&key.name);
            (
                key.name.clone(),
                json!({ "value": value.shown(), "source": origin.to_string() }),
            )
        };
        Json::Object(table::keys().iter().map(of).collect::<Map<_, _>>())
    }
}
