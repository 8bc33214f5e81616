//! What can be wrong with settings. Each error is one sentence that names the key and where its value came from.
//! No error ever shows the value of a secret.

use std::fmt;
use std::path::PathBuf;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The compiled-in default file.
    Default,
    /// A settings file.
    File(PathBuf),
    /// An environment variable, by its full name.
    Environment(String),
    /// A command line flag, given by the caller under the key's name.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment(name) => f.write_str(name),
            Self::Flag => f.write_str("flag"),
        }
    }
}

/// Why settings are refused. All of these are the operator's to mend: the binary ends with its usage exit code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No setting has this name.
    #[error("unknown setting {key} ({origin}){}", did_you_mean(.nearest.as_deref()))]
    Unknown {
        /// The name as it was typed, in the form `section.key`.
        key: String,
        /// Where it was typed.
        origin: Origin,
        /// The known key that looks most like it, where one does.
        nearest: Option<String>,
    },
    /// The value has the wrong type, form or size.
    #[error("{key} ({origin}) must be {expected}, not {found}")]
    Invalid {
        /// The setting.
        key: String,
        /// Where its value came from.
        origin: Origin,
        /// What the setting takes.
        expected: String,
        /// What was typed, or its type where it is a secret.
        found: String,
    },
    /// A secret that can be guessed.
    #[error("{key} ({origin}) is refused: {reason}; make one with `openssl rand -hex 32`")]
    Weak {
        /// The setting.
        key: String,
        /// Where its value came from.
        origin: Origin,
        /// Why it can be guessed.
        reason: &'static str,
    },
    /// Two settings that can't hold together.
    #[error("{key} ({origin}) does not go with {other}: {reason}")]
    Conflict {
        /// The first setting.
        key: String,
        /// Where its value came from.
        origin: Origin,
        /// The second setting, with the source of its value.
        other: String,
        /// What to do about it.
        reason: &'static str,
    },
    /// A setting without default that this command needs.
    #[error("{key} is not set: {how}")]
    Missing {
        /// The setting.
        key: String,
        /// How to make and set it.
        how: String,
    },
    /// A file that a setting names can't be read.
    #[error("{what} {path} can't be read: {reason}", path = .path.display())]
    Unreadable {
        /// What the file is for: a settings file, or the key whose secret it holds.
        what: String,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// A settings file that is not TOML.
    #[error("settings file {path} is not valid TOML: {message}", path = .path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// What the parser says, with the line.
        message: String,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|key| format!("; did you mean {key}?")).unwrap_or_default()
}
