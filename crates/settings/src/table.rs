//! The table of keys, read from the default file: name, what it takes, default and meaning of each.
//! The environment, the schema and the printed settings are all driven by it.

use std::sync::LazyLock;

use crate::DEFAULT_FILE;
use crate::kind::Kind;
use crate::value::Value;

/// One setting.
#[derive(Debug)]
pub(crate) struct Key {
    /// `section.key`, or `key` outside of all sections.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) default: Value,
    /// The comment above it, as one paragraph.
    pub(crate) doc: String,
}

impl Key {
    /// Section and key; the section is empty at the top level.
    pub(crate) fn parts(&self) -> (&str, &str) {
        self.name.split_once('.').unwrap_or(("", &self.name))
    }

    /// Name of its environment variable.
    pub(crate) fn variable(&self) -> String {
        variable(&self.name)
    }
}

/// Name of the environment variable of a key.
pub(crate) fn variable(name: &str) -> String {
    format!("SECKILL_{}", name.replace('.', "__").to_ascii_uppercase())
}

/// All settings, in the order of the default file.
pub(crate) fn keys() -> &'static [Key] {
    static KEYS: LazyLock<Vec<Key>> = LazyLock::new(read_default_file);
    &KEYS
}

/// The setting of this name.
pub(crate) fn find(name: &str) -> Option<&'static Key> {
    keys().iter().find(|key| key.name == name)
}

// The file is compiled in and a test reads it, so that a mistake in it never leaves the workshop.
fn read_default_file() -> Vec<Key> {
    let values: toml::Table = DEFAULT_FILE.parse().expect("the default file is TOML");
    let mut keys = Vec::new();
    let (mut section, mut doc, mut kind) = ("", Vec::new(), None);
    for line in DEFAULT_FILE.lines() {
        if let Some(annotation) = line.strip_prefix("#:") {
            kind = Some(
                Kind::parse(annotation).unwrap_or_else(|| panic!("the default file's line `{line}` names a kind")),
            );
        } else if let Some(comment) = line.strip_prefix('#') {
            doc.push(comment.trim());
        } else if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
            doc.clear();
        } else if let Some((key, _)) = line.split_once(" = ") {
            keys.push(key_of(&values, section, key, kind.take(), &doc.join(" ")));
            doc.clear();
        } else {
            doc.clear();
        }
    }
    keys
}

fn key_of(values: &toml::Table, section: &str, key: &str, kind: Option<Kind>, doc: &str) -> Key {
    let name = if section.is_empty() {
        key.to_owned()
    } else {
        format!("{section}.{key}")
    };
    let typed = if section.is_empty() {
        values.get(key)
    } else {
        values[section].get(key)
    };
    let kind = kind.unwrap_or_else(|| panic!("the default file says what {name} takes"));
    let default = typed.and_then(|typed| kind.read_toml(typed));
    let default = default.unwrap_or_else(|| panic!("the default of {name} is {}", kind.expected()));
    Key {
        name,
        kind,
        default,
        doc: doc.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_default_file_is_a_key_with_a_meaning() {
        let values: toml::Table = DEFAULT_FILE.parse().unwrap();
        let typed: usize = values
            .values()
            .map(|value| value.as_table().map_or(1, toml::Table::len))
            .sum();
        assert_eq!(keys().len(), typed);
        for key in keys() {
            assert!(
                key.doc.len() > 20 && key.doc.ends_with('.'),
                "{}: {}",
                key.name,
                key.doc
            );
        }
    }

    #[test]
    fn variable_has_two_underscores_between_section_and_key() {
        assert_eq!(variable("auth.jwt_secret"), "SECKILL_AUTH__JWT_SECRET");
        assert_eq!(variable("data_dir"), "SECKILL_DATA_DIR");
    }
}
