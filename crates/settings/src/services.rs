//! Addresses of the store and the database. A remote one is kept as it was typed: whether its kind is built in is for the
//! binary to say. A password in it is masked wherever it is shown.

use std::fmt;
use std::path::{Path, PathBuf};

/// Name of the database file inside the data folder.
const SQLITE_FILE: &str = "seckill.db";
const STORE_SCHEMES: [&str; 4] = ["redis", "rediss", "redis-sentinel", "redis-cluster"];
const DATABASE_SCHEMES: [&str; 4] = ["mysql", "mariadb", "postgres", "postgresql"];

pub(crate) const STORE_EXPECTED: &str =
    "\"embedded\" or a redis://, rediss://, redis-sentinel:// or redis-cluster:// URL";
pub(crate) const DATABASE_EXPECTED: &str = "\"sqlite\" or a sqlite://PATH, mysql://, mariadb:// or postgres:// URL";

/// URL of a remote service. `Display` and `Debug` mask the user and password part.
#[derive(Clone, PartialEq, Eq)]
pub struct ServiceUrl(String);

impl ServiceUrl {
    fn parse(text: &str, schemes: &[&str]) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let clean = !text.chars().any(|c| c.is_whitespace() || c.is_control());
        (clean && !rest.is_empty() && schemes.contains(&scheme)).then(|| Self(text.to_owned()))
    }

    /// The URL with its password.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What stands before `://`.
    #[must_use]
    pub fn scheme(&self) -> &str {
        self.0.split_once("://").map_or("", |(scheme, _)| scheme)
    }
}

impl fmt::Display for ServiceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.0.split_once("://").unwrap_or(("", ""));
        // The last `@`, because a password may hold one that nobody escaped. Query parameters may carry passwords, too.
        let (mask, rest) = rest.rsplit_once('@').map_or(("", rest), |(_, rest)| ("***@", rest));
        let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?***"));
        write!(f, "{scheme}://{mask}{rest}{query}")
    }
}

impl fmt::Debug for ServiceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Where stock and queue live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreUrl {
    /// In this process, behind a journal in the data folder.
    Embedded,
    /// On Redis or Valkey.
    Remote(ServiceUrl),
}

impl StoreUrl {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text == "embedded" {
            Some(Self::Embedded)
        } else {
            ServiceUrl::parse(text, &STORE_SCHEMES).map(Self::Remote)
        }
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("embedded"),
            Self::Remote(url) => write!(f, "{url}"),
        }
    }
}

/// Where orders live, as it was typed; [`DatabaseText::narrow`] adds the data folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DatabaseText {
    SqliteInDataDir,
    Sqlite(String),
    Remote(ServiceUrl),
}

impl DatabaseText {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text == "sqlite" {
            return Some(Self::SqliteInDataDir);
        }
        match text.strip_prefix("sqlite://") {
            // Parameters would be taken for a part of the file's name, so they are refused.
            Some(path) => (!path.is_empty() && !path.contains(['?', '\0'])).then(|| Self::Sqlite(path.to_owned())),
            None => ServiceUrl::parse(text, &DATABASE_SCHEMES).map(Self::Remote),
        }
    }

    pub(crate) fn narrow(&self, data_dir: &Path) -> DatabaseUrl {
        match self {
            Self::SqliteInDataDir => DatabaseUrl::Sqlite(data_dir.join(SQLITE_FILE)),
            Self::Sqlite(path) => DatabaseUrl::Sqlite(PathBuf::from(path)),
            Self::Remote(url) => DatabaseUrl::Remote(url.clone()),
        }
    }
}

impl fmt::Display for DatabaseText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SqliteInDataDir => f.write_str("sqlite"),
            Self::Sqlite(path) => write!(f, "sqlite://{path}"),
            Self::Remote(url) => write!(f, "{url}"),
        }
    }
}

/// Where orders live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A file of this machine.
    Sqlite(PathBuf),
    /// MySQL, MariaDB or PostgreSQL.
    Remote(ServiceUrl),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_of_a_service_is_masked() {
        let check = |text: &str, shown: &str| {
            let url = ServiceUrl::parse(text, &["redis", "postgres"]).expect("is a URL");
            assert_eq!(
                (url.to_string().as_str(), format!("{url:?}").as_str(), url.reveal()),
                (shown, shown, text)
            );
        };
        check("redis://:pa@ss@host:6379/0", "redis://***@host:6379/0");
        check("redis://h1,h2/master", "redis://h1,h2/master");
        check("postgres://host/db?password=p", "postgres://host/db?***");
    }

    #[test]
    fn stores_and_databases_are_told_by_their_scheme() {
        assert_eq!(StoreUrl::parse("embedded"), Some(StoreUrl::Embedded));
        assert!(
            matches!(StoreUrl::parse("redis-sentinel://h1,h2/m"), Some(StoreUrl::Remote(url)) if url.scheme() == "redis-sentinel")
        );
        for text in ["", "redis", "redis://", "http://host", "redis://a b", "Embedded"] {
            assert_eq!(StoreUrl::parse(text), None, "{text:?}");
        }
        let sqlite = |text: &str| DatabaseText::parse(text).map(|database| database.narrow(Path::new("data")));
        assert_eq!(
            sqlite("sqlite"),
            Some(DatabaseUrl::Sqlite(PathBuf::from("data/seckill.db")))
        );
        assert_eq!(
            sqlite("sqlite:///var/shop.db"),
            Some(DatabaseUrl::Sqlite(PathBuf::from("/var/shop.db")))
        );
        assert_eq!(
            sqlite("sqlite://shop.db"),
            Some(DatabaseUrl::Sqlite(PathBuf::from("shop.db")))
        );
        for text in ["", "sqlite://", "sqlite://a?mode=rw", "oracle://h", "mysql://"] {
            assert_eq!(DatabaseText::parse(text), None, "{text:?}");
        }
    }
}
