//! Where settings are looked for. The process's environment is read here, once; the rest of the crate gets it passed in.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::{Error, Origin};
use crate::nearest::nearest;
use crate::table;

/// What every variable begins with.
pub(crate) const PREFIX: &str = "SECKILL_";
/// The file that is read where none was named.
const FILE_NAME: &str = "seckill.toml";

/// Which settings file is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SettingsFile {
    /// None.
    #[default]
    None,
    /// This one, where it exists.
    IfPresent(PathBuf),
    /// This one; an error where it does not exist.
    Required(PathBuf),
}

/// Everything that was typed. `Sources::default()` is nothing: the defaults alone, as `demo` wants them.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The settings file.
    pub file: SettingsFile,
    /// Names and values of the variables that begin with `SECKILL_`; others are passed over.
    pub environment: Vec<(String, String)>,
    /// Keys (`server.listen`) and values of command line flags. They win over all else.
    pub flags: Vec<(String, String)>,
}

impl Sources {
    /// The sources of a running process: the named file or `./seckill.toml` where it exists, its environment, and these flags.
    ///
    /// # Errors
    ///
    /// A `SECKILL_` variable that is not UTF-8.
    pub fn of_process(config: Option<PathBuf>, flags: Vec<(String, String)>) -> Result<Self, Error> {
        let file = config.map_or_else(
            || SettingsFile::IfPresent(PathBuf::from(FILE_NAME)),
            SettingsFile::Required,
        );
        Ok(Self {
            file,
            environment: variables(std::env::vars_os())?,
            flags,
        })
    }
}

fn variables(all: impl Iterator<Item = (OsString, OsString)>) -> Result<Vec<(String, String)>, Error> {
    let mut ours = Vec::new();
    for (name, value) in all {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with(PREFIX) {
            let value = value.into_string().map_err(|_| Error::Invalid {
                key: name.clone(),
                origin: Origin::Environment(name.clone()),
                expected: "UTF-8 text".to_owned(),
                found: "other bytes".to_owned(),
            })?;
            ours.push((name, value));
        }
    }
    Ok(ours)
}

/// Whether a variable is none of ours in spite of its beginning: one of an orchestrator, or one without `__` that neither is a setting
/// nor looks like one, such as `SECKILL_BIN` of our own tests.
pub(crate) fn is_foreign(variable: &str, value: &str) -> bool {
    let name = variable.strip_prefix(PREFIX).unwrap_or(variable).to_ascii_lowercase();
    let looks_like_ours = || nearest(&name, table::keys().iter().map(|key| key.name.as_str())).is_some();
    is_service_link(variable, value) || !name.is_empty() && !name.contains("__") && !looks_like_ours()
}

/// Whether a variable was set by a container orchestrator for a service that happens to be called "seckill…": such variables
/// appear in every container beside it, and nobody typed them.
fn is_service_link(name: &str, value: &str) -> bool {
    let single = !name.contains("__");
    let service = name.ends_with("_SERVICE_HOST") || name.contains("_SERVICE_PORT");
    let port = name.ends_with("_PORT") && (value.starts_with("tcp://") || value.starts_with("udp://"));
    let protocol = name.contains("_PORT_") && (name.contains("_TCP") || name.contains("_UDP"));
    single && (service || port || protocol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_variables_are_taken() {
        let all = [("PATH", "/bin"), ("SECKILL_DATA_DIR", "d"), ("seckill_data_dir", "e")];
        let ours = variables(all.into_iter().map(|(name, value)| (name.into(), value.into()))).unwrap();
        assert_eq!(ours, vec![("SECKILL_DATA_DIR".to_owned(), "d".to_owned())]);
    }

    #[test]
    fn a_variable_without_section_is_ours_only_where_it_is_a_setting_or_looks_like_one() {
        for name in ["SECKILL_BIN", "SECKILL_REVISION", "SECKILL_WEATHER"] {
            assert!(is_foreign(name, "x"), "{name}");
        }
        for name in [
            "SECKILL_DATA_DIR",
            "SECKILL_DATADIR",
            "SECKILL_QUEUE_WORKERS",
            "SECKILL_",
            "SECKILL_WEATHER__KEY",
        ] {
            assert!(!is_foreign(name, "x"), "{name}");
        }
    }

    #[test]
    fn variables_of_a_service_named_like_us_are_told_apart() {
        for (name, value) in [
            ("SECKILL_SERVICE_HOST", "10.0.0.1"),
            ("SECKILL_API_SERVICE_PORT_HTTP", "80"),
            ("SECKILL_PORT", "tcp://10.0.0.1:80"),
            ("SECKILL_PORT_80_TCP_ADDR", "10.0.0.1"),
        ] {
            assert!(is_service_link(name, value), "{name}");
        }
        for (name, value) in [
            ("SECKILL_PORT", "8080"),
            ("SECKILL_SERVER__LISTEN", "tcp://x"),
            ("SECKILL_DATA_DIR", "d"),
        ] {
            assert!(!is_service_link(name, value), "{name}");
        }
    }
}
