//! What a server is set to that could lose orders which it has said are written. It is told at the start; the server is its operator's.

use super::errors::Stop;
use super::rows::Row;
use super::session::Session;
use super::translate::Family;

/// Settings, each with the value that keeps what was committed and what happens otherwise.
const POSTGRES: &[(&str, &[&str], &str)] = &[
    ("fsync", &["on"], "a crash of the machine can lose the database"),
    (
        "full_page_writes",
        &["on"],
        "a crash of the machine can damage the database",
    ),
    (
        "synchronous_commit",
        &["on", "local", "remote_write", "remote_apply"],
        "a crash of the server can lose orders that were written",
    ),
];

const MYSQL: &[(&str, &[&str], &str)] = &[
    (
        "innodb_flush_log_at_trx_commit",
        &["1"],
        "a crash can lose orders that were written",
    ),
    (
        "innodb_doublewrite",
        // MySQL 8.0.30 and later has words for it; this one is as safe.
        &["1", "ON", "on", "DETECT_AND_RECOVER"],
        "a crash of the machine can damage the database",
    ),
];

/// A sentence for each setting that could lose something; empty where none can.
pub(super) fn cautions(session: &mut Session) -> Result<Vec<String>, Stop> {
    let settings = match session.family() {
        Family::Postgres => POSTGRES,
        Family::MySql => MYSQL,
    };
    let mut cautions = Vec::new();
    for (name, good, otherwise) in settings {
        let query = match session.family() {
            Family::Postgres => format!("SELECT current_setting('{name}')"),
            Family::MySql => format!("SELECT CAST(@@{name} AS CHAR)"),
        };
        let translated = session.translated(&query);
        let rows = session.rows(&translated, &[])?;
        let value: Option<String> = rows.into_iter().next().map(|row| Row::from(row).get(0)).transpose()?;
        let value = value.unwrap_or_default();
        if !good.contains(&value.as_str()) {
            cautions.push(format!("the database's {name} is {value:?}: {otherwise}"));
        }
    }
    Ok(cautions)
}
