//! Looks a server over before a sale. Nothing is changed; what a session of ours would have is read from a session of ours.

use seckill_sale::{ActivityId, EpochMs, Finding, Severity};

use super::ServerOptions;
use super::access::Access;
use super::caution::cautions;
use super::connection::Connection;
use super::errors::Stop;
use super::migrate::{lacking, outdated};
use super::rows::{FromValue, Row};
use super::session::Session;
use super::translate::Family;
use super::version::version;
use super::wire::Target;
use super::writes::writes;
use crate::finding::clock;

/// What an examination is to look at.
pub(super) struct Looked<'a> {
    pub(super) target: &'a Target,
    pub(super) options: ServerOptions,
    /// Connections that this process has there already.
    pub(super) present: u32,
    /// A sale whose stock row must be free.
    pub(super) sale: Option<ActivityId>,
}

impl Looked<'_> {
    /// What there is to say; never empty.
    pub(super) fn findings(&self, now: impl Fn() -> EpochMs) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Err(stop) = self.look(now, &mut findings) {
            let why = seckill_ledger::Error::from(stop);
            findings.push(Finding::failed("connection", why.to_string()));
        }
        findings
    }

    fn look(&self, now: impl Fn() -> EpochMs, findings: &mut Vec<Finding>) -> Result<(), Stop> {
        let mut writing = Connection::new(self.target, Access::Write, self.options)?;
        let session = writing.session()?;
        findings.push(Finding::passed("connection", "the database answers"));
        let family = session.family();
        findings.push(version(family, &ask::<String>(session, "SELECT version()")?));
        let schema = schema(session)?;
        let has_tables = schema
            .iter()
            .all(|finding| finding.area != "schema" || finding.severity == Severity::Passed);
        findings.extend(schema);
        findings.push(isolation(session)?);
        findings.extend(durability(session)?);
        findings.push(connections(session, self.options, self.present)?);
        let before = now();
        let there = ask::<i64>(session, clock_of(family))?;
        findings.push(clock([before.0, now().0], there));
        if has_tables {
            findings.extend(writes(session, self.sale));
        }
        Ok(())
    }
}

fn ask<T: FromValue>(session: &mut Session, query: &str) -> Result<T, Stop> {
    let translated = session.translated(query);
    let rows = session.rows(&translated, &[])?;
    let first = rows.into_iter().next().map(Row::from);
    Ok(first.ok_or(super::errors::SqlError::NoRows)?.get(0)?)
}

const fn clock_of(family: Family) -> &'static str {
    match family {
        Family::Postgres => "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
        Family::MySql => "SELECT CAST(unix_timestamp(sysdate(3)) * 1000 AS BIGINT)",
    }
}

fn schema(session: &mut Session) -> Result<Vec<Finding>, Stop> {
    if let Some(outdated) = outdated(session)? {
        return Ok(vec![Finding::failed("schema", outdated)]);
    }
    let mut findings = vec![Finding::passed("schema", "the tables are of this version")];
    let lacking = lacking(session)?;
    let is_of_a_column = |repair: &String| {
        [" MODIFY ", " ALTER COLUMN "]
            .iter()
            .any(|words| repair.contains(words))
    };
    let (columns, keys): (Vec<_>, Vec<_>) = lacking.into_iter().partition(is_of_a_column);
    let finding = |area, repairs: Vec<String>, good: &str, bad: &str| match repairs.is_empty() {
        true => Finding::passed(area, good),
        false => Finding::failed(area, format!("{bad}; run: {}", repairs.join("; "))),
    };
    findings.push(finding(
        "keys",
        keys,
        "every key and rule is there",
        "keys or rules are missing",
    ));
    let (good, bad) = (
        "ids are compared byte by byte",
        "ids are not compared byte by byte: two buyers can be one",
    );
    findings.push(finding("collation", columns, good, bad));
    Ok(findings)
}

/// As our own sessions have it, whatever the server's default is.
pub(super) fn isolation(session: &mut Session) -> Result<Finding, Stop> {
    let level = match session.family() {
        Family::Postgres => ask::<String>(session, "SELECT current_setting('transaction_isolation')")?,
        // One name is gone from MySQL 8, the other came to MariaDB with 11.1.
        Family::MySql => match ask::<String>(session, "SELECT CAST(@@session.transaction_isolation AS CHAR)") {
            Ok(level) => level,
            Err(_) => ask::<String>(session, "SELECT CAST(@@session.tx_isolation AS CHAR)")?,
        },
    };
    let level = level.to_lowercase().replace('-', " ");
    Ok(match &*level {
        "read committed" => Finding::passed("isolation", "workers read what is committed"),
        _ => {
            let sentence = format!(
                "workers' transactions are {level:?} and not read committed; is a proxy in between that drops SET?"
            );
            Finding::failed("isolation", sentence)
        }
    })
}

fn durability(session: &mut Session) -> Result<Vec<Finding>, Stop> {
    let cautions = cautions(session)?;
    if cautions.is_empty() {
        let sentence = "the server keeps what it has committed";
        return Ok(vec![Finding::passed("durability", sentence)]);
    }
    let warning = |caution| Finding::warning("durability", caution);
    Ok(cautions.into_iter().map(warning).collect())
}

const PLACES_POSTGRES: &str = "SELECT (SELECT setting::bigint FROM pg_settings WHERE name = 'max_connections')
    - (SELECT setting::bigint FROM pg_settings WHERE name = 'superuser_reserved_connections')
    - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')";

const PLACES_MYSQL: &str = "SELECT CAST(@@max_connections AS BIGINT)
    - (SELECT CAST(variable_value AS BIGINT) FROM information_schema.global_status WHERE variable_name = 'THREADS_CONNECTED')";

const PLACES_MYSQL_8: &str = "SELECT CAST(@@max_connections AS BIGINT)
    - (SELECT CAST(variable_value AS BIGINT) FROM performance_schema.global_status WHERE variable_name = 'Threads_connected')";

/// Places that are free or this process's already, beside what it opens.
fn connections(session: &mut Session, options: ServerOptions, present: u32) -> Result<Finding, Stop> {
    let free = match session.family() {
        Family::Postgres => ask::<i64>(session, PLACES_POSTGRES)?,
        Family::MySql => match ask(session, PLACES_MYSQL) {
            Ok(free) => free,
            Err(_) => ask(session, PLACES_MYSQL_8)?,
        },
    };
    let (free, wanted) = (
        // The one that asks is no more there then.
        free + 1 + i64::from(present),
        i64::from(options.writers.max(1)) + i64::from(options.readers.max(1)),
    );
    Ok(if wanted <= free {
        let sentence = format!("{free} connections are free for this process, which opens {wanted}");
        Finding::passed("connections", sentence)
    } else {
        let sentence =
            format!("{free} connections are free for this process, which opens {wanted}; raise max_connections");
        Finding::failed("connections", sentence)
    })
}
