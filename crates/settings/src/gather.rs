//! Puts the sources over one another, the later wins, and notes where each value came from. It checks names and forms of values;
//! whether values go together is the matter of the sections.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::effective::{Effective, Entry};
use crate::error::{Error, Origin};
use crate::nearest::nearest;
use crate::sources::{PREFIX, SettingsFile, Sources, is_foreign};
use crate::table::{self, Key};
use crate::value::Value;

/// Largest settings file and largest secret file, in bytes. A larger one is not what it was taken for.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// A key with this ending names the file that holds the value.
const FILE_SUFFIX: &str = "_file";
/// What is written where the value of a confidential setting would stand.
const HIDDEN: &str = "what was given";

/// What was found. A key in error keeps the value it had, so that all errors are found in one go.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) effective: Effective,
    pub(crate) errors: Vec<Error>,
    pub(crate) warnings: Vec<String>,
}

enum Typed<'a> {
    Toml(&'a toml::Value),
    Text(&'a str),
}

pub(crate) fn gather(sources: &Sources) -> Gathered {
    let mut gathered = Gathered {
        effective: Effective::defaults(),
        errors: Vec::new(),
        warnings: Vec::new(),
    };
    gathered.read_file(&sources.file);
    gathered.read_environment(&sources.environment);
    for (name, value) in &sources.flags {
        gathered.set(name, &Origin::Flag, &Typed::Text(value));
    }
    gathered
}

impl Gathered {
    fn read_file(&mut self, file: &SettingsFile) {
        let (path, required) = match file {
            SettingsFile::None => return,
            SettingsFile::IfPresent(path) => (path, false),
            SettingsFile::Required(path) => (path, true),
        };
        if !required && !path.exists() {
            return;
        }
        match read_text(path, "settings file").and_then(|text| parse(path, &text)) {
            Ok(values) => self.read_table(path, &values),
            Err(error) => self.errors.push(error),
        }
    }

    fn read_table(&mut self, path: &Path, values: &toml::Table) {
        let origin = Origin::File(path.to_owned());
        let mut found = Vec::new();
        for (name, value) in values {
            match value {
                toml::Value::Table(section) if section.is_empty() => self.check_section(name, &origin),
                toml::Value::Table(section) => {
                    found.extend(section.iter().map(|(key, value)| (format!("{name}.{key}"), value)));
                }
                _ => found.push((name.clone(), value)),
            }
        }
        // Names of secret files come last: within one source they win over a value that stands beside them.
        found.sort_by_key(|(name, _)| secret_file_key(name).is_some());
        if found.iter().any(|(name, value)| is_secret_text(name, value)) && others_can_read(path) {
            self.warnings.push(format!(
                "{} holds a secret and every user of this machine can read it",
                path.display()
            ));
        }
        for (name, value) in found {
            self.set(&name, &origin, &Typed::Toml(value));
        }
    }

    fn read_environment(&mut self, variables: &[(String, String)]) {
        let mut found: Vec<(String, &str, &str)> = Vec::new();
        for (variable, value) in variables {
            let Some(rest) = variable.strip_prefix(PREFIX) else {
                continue;
            };
            if is_foreign(variable, value) {
                continue;
            }
            let name = rest.to_ascii_lowercase().replace("__", ".");
            // Only the one right spelling counts: two variables must not mean the same key.
            if table::variable(&name) == *variable && !name.is_empty() {
                found.push((name, variable, value));
            } else {
                self.unknown(&name, Origin::Environment(variable.clone()));
            }
        }
        found.sort_by_key(|(name, ..)| secret_file_key(name).is_some());
        for (name, variable, value) in found {
            self.set(&name, &Origin::Environment(variable.to_owned()), &Typed::Text(value));
        }
    }

    fn set(&mut self, name: &str, origin: &Origin, typed: &Typed<'_>) {
        if let Some(key) = table::find(name) {
            let value = match typed {
                Typed::Toml(value) => key.kind.read_toml(value),
                Typed::Text(text) => key.kind.read_text(text),
            };
            match value {
                Some(value) => self.effective.set(
                    &key.name,
                    Entry {
                        value,
                        origin: origin.clone(),
                    },
                ),
                None => self.errors.push(invalid(key, origin, typed)),
            }
        } else if let Some(key) = secret_file_key(name) {
            self.set_from_file(name, key, origin, typed);
        } else {
            self.unknown(name, origin.clone());
        }
    }

    fn set_from_file(&mut self, name: &str, key: &'static Key, origin: &Origin, typed: &Typed<'_>) {
        let path = match typed {
            Typed::Toml(toml::Value::String(path)) => PathBuf::from(path),
            Typed::Text(path) => PathBuf::from(path),
            Typed::Toml(_) => PathBuf::new(),
        };
        if path.as_os_str().is_empty() {
            let (expected, found) = ("the path of a file".to_owned(), shown(typed));
            self.errors.push(Error::Invalid {
                key: name.to_owned(),
                origin: origin.clone(),
                expected,
                found,
            });
            return;
        }
        let what = format!("file of {}", key.name);
        let text = match read_text(&path, &what) {
            Ok(text) => text,
            Err(error) => return self.errors.push(error),
        };
        let text = text.trim_end_matches(['\r', '\n']);
        // An empty file would silently stand for "not set", and a secret that did not arrive is what a mount leaves behind.
        if text.is_empty() {
            return self.errors.push(Error::Unreadable {
                what,
                path,
                reason: "it is empty".to_owned(),
            });
        }
        let before = self.effective.entry(&key.name);
        if same_source(&before.origin, origin) && !is_unset(&before.value) {
            self.warnings.push(format!(
                "{} is set twice: the file {} wins over {}",
                key.name,
                path.display(),
                before.origin
            ));
        }
        self.set(&key.name, origin, &Typed::Text(text));
    }

    fn check_section(&mut self, section: &str, origin: &Origin) {
        if !table::keys().iter().any(|key| key.parts().0 == section) {
            self.unknown(section, origin.clone());
        }
    }

    fn unknown(&mut self, name: &str, origin: Origin) {
        let nearest = nearest(name, table::keys().iter().map(|key| key.name.as_str()));
        let nearest = nearest.map(|key| match &origin {
            Origin::Environment(_) => table::variable(key),
            _ => key.to_owned(),
        });
        self.errors.push(Error::Unknown {
            key: name.to_owned(),
            origin,
            nearest,
        });
    }
}

/// The confidential setting whose file this name names.
fn secret_file_key(name: &str) -> Option<&'static Key> {
    name.strip_suffix(FILE_SUFFIX)
        .and_then(table::find)
        .filter(|key| key.kind.is_confidential())
}

fn is_secret_text(name: &str, value: &toml::Value) -> bool {
    let secret = table::find(name).is_some_and(|key| matches!(key.default, Value::Secret(_) | Value::Secrets(_)));
    let is_empty = match value {
        toml::Value::Array(items) => items.is_empty(),
        value => value.as_str().is_none_or(str::is_empty),
    };
    secret && !is_empty
}

fn is_unset(value: &Value) -> bool {
    matches!(value, Value::Secret(None))
        || matches!(value, Value::Secrets(secrets) if secrets.is_empty())
        || matches!(value, Value::Text(text) if text.is_empty())
}

fn same_source(left: &Origin, right: &Origin) -> bool {
    left == right || matches!((left, right), (Origin::Environment(_), Origin::Environment(_)))
}

fn invalid(key: &Key, origin: &Origin, typed: &Typed<'_>) -> Error {
    let found = if key.kind.is_confidential() {
        HIDDEN.to_owned()
    } else {
        shown(typed)
    };
    Error::Invalid {
        key: key.name.clone(),
        origin: origin.clone(),
        expected: key.kind.expected(),
        found,
    }
}

fn shown(typed: &Typed<'_>) -> String {
    match typed {
        Typed::Toml(value) => value.to_string(),
        Typed::Text(text) => format!("{text:?}"),
    }
}

fn read_text(path: &Path, what: &str) -> Result<String, Error> {
    let unreadable = |reason: String| Error::Unreadable {
        what: what.to_owned(),
        path: path.to_owned(),
        reason,
    };
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|error| unreadable(error.to_string()))?;
    // The bound holds for pipes and devices, too, whose size nobody knows beforehand.
    file.take(FILE_BYTES_MAX + 1)
        .read_to_string(&mut text)
        .map_err(|error| unreadable(error.to_string()))?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(unreadable(format!("it is larger than {FILE_BYTES_MAX} bytes")));
    }
    Ok(text)
}

// Only the parser's sentence is kept: its picture of the line could show a secret.
fn parse(path: &Path, text: &str) -> Result<toml::Table, Error> {
    let text = text.trim_start_matches('\u{feff}');
    text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let place = before
            .map(|before| format!("line {}: ", before.matches('\n').count() + 1))
            .unwrap_or_default();
        Error::Syntax {
            path: path.to_owned(),
            message: format!("{place}{}", error.message().replace('\n', ", ")),
        }
    })
}

#[cfg(unix)]
fn others_can_read(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o004 != 0)
}

#[cfg(not(unix))]
fn others_can_read(_: &Path) -> bool {
    false
}
