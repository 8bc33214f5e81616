//! Brings the tables to this version, one process at a time, and refuses a database that it does not understand.

use std::iter;

use seckill_sale::{Finding, Severity};

use super::ServerOptions;
use super::access::Access;
use super::connection::Connection;
use super::errors::{Stop, rejected};
use super::findings::isolation;
use super::rows::Row;
use super::schema::repairs;
use super::session::Session;
use super::translate::Family;
use super::values::{SqlResult, Value};
use super::wire::Target;
use super::writes::writes;

/// All steps, ascending, for each family. A step that was released is never changed.
const STEPS: &[(i64, &str, &str)] = &[(
    1,
    include_str!("../../migrations/postgres/0001_initial.sql"),
    include_str!("../../migrations/mysql/0001_initial.sql"),
)];

/// Held while tables are made. MariaDB ends a transaction at each CREATE, so there the lock belongs to the connection.
const LOCK_POSTGRES: &str = "START TRANSACTION; SELECT pg_advisory_xact_lock(5130284, hashtext(current_schema()))";
const LOCK_MYSQL: &str = "SELECT GET_LOCK('seckill.migrate', 30)";

/// How long another process that makes tables is waited for.
const LOCK_WAIT_S_MAX: u8 = 30;

/// Migrates where it may, else says what is missing.
pub(super) fn migrate(target: &Target, options: ServerOptions) -> Result<(), Stop> {
    let patient = ServerOptions {
        lock_wait_s_max: LOCK_WAIT_S_MAX,
        ..options
    };
    let mut connection = Connection::new(target, Access::Write, patient)?;
    let session = connection.session()?;
    if !options.migrate {
        check(session)?;
        return whole(session);
    }
    match session.family() {
        Family::Postgres => {
            session.say(LOCK_POSTGRES)?;
            apply(session)?;
            session.say("COMMIT")?;
        }
        Family::MySql => {
            session.say(LOCK_MYSQL)?;
            apply(session)?;
            session.say("SELECT RELEASE_LOCK('seckill.migrate')")?;
        }
    }
    whole(session)
}

/// Refuses a database that would lose or double orders: tables that lost a key or a rule, transactions that see each other otherwise than they
/// must, a user who may not write. One that is locked or only reads heals by itself.
fn whole(session: &mut Session) -> Result<(), Stop> {
    let repairs = lacking(session)?;
    if !repairs.is_empty() {
        return Err(rejected(format!(
            "the database lost what keeps orders apart; run: {}",
            repairs.join("; ")
        )));
    }
    let isolation = isolation(session)?;
    let is_refused = |finding: &Finding| finding.severity == Severity::Failed && finding.area != "writes";
    let refused = iter::once(isolation).chain(writes(session, None)).find(is_refused);
    refused.map_or(Ok(()), |finding| Err(rejected(finding.sentence)))
}

/// Statements that make what the tables lack.
pub(super) fn lacking(session: &mut Session) -> Result<Vec<String>, Stop> {
    let steps: Vec<&str> = STEPS.iter().map(|step| text(step, session.family())).collect();
    repairs(session, &steps)
}

const fn text(step: &(i64, &'static str, &'static str), family: Family) -> &'static str {
    match family {
        Family::Postgres => step.1,
        Family::MySql => step.2,
    }
}

fn check(session: &mut Session) -> Result<(), Stop> {
    outdated(session)?.map_or(Ok(()), |outdated| Err(rejected(outdated)))
}

/// Why the tables are not of this version, and what to do; none where they are.
pub(super) fn outdated(session: &mut Session) -> Result<Option<String>, Stop> {
    let newest = STEPS.last().map_or(0, |step| step.0);
    Ok(match version(session)? {
        Some(present) if present == newest => None,
        Some(present) if newest < present => Some(newer(present, newest)),
        _ => Some("the database lacks tables of this version; run `seckill migrate`".to_owned()),
    })
}

fn newer(present: i64, newest: i64) -> String {
    format!("the database is of version {present}, made by a newer seckill; this one knows versions up to {newest}")
}

fn apply(session: &mut Session) -> Result<(), Stop> {
    let present = if let Some(present) = version(session)? {
        present
    } else {
        session.say("CREATE TABLE schema_version (version BIGINT PRIMARY KEY)")?;
        0
    };
    let newest = STEPS.last().map_or(0, |step| step.0);
    if newest < present {
        return Err(rejected(newer(present, newest)));
    }
    for step in STEPS.iter().filter(|step| present < step.0) {
        session.say(text(step, session.family()))?;
        session.say(&format!("INSERT INTO schema_version (version) VALUES ({})", step.0))?;
    }
    Ok(())
}

/// Version of the newest step in the database; none in an empty one.
fn version(session: &mut Session) -> Result<Option<i64>, Stop> {
    let present = match session.family() {
        Family::Postgres => "current_schema()",
        Family::MySql => "database()",
    };
    let tables = format!(
        "SELECT count(*), coalesce(sum(CASE WHEN table_name = 'schema_version' THEN 1 ELSE 0 END), 0) = 1
         FROM information_schema.tables WHERE table_schema = {present}"
    );
    let tables = one(session, &tables)?;
    match (tables.get::<_, i64>(0)?, tables.get::<_, bool>(1)?) {
        (_, true) => Ok(Some(
            one(session, "SELECT coalesce(max(version), 0) FROM schema_version")?.get(0)?,
        )),
        (0, false) => Ok(None),
        _ => Err(rejected("the database holds tables of another program")),
    }
}

fn one(session: &mut Session, query: &str) -> SqlResult<Row<'static>> {
    let translated = session.translated(query);
    let rows: Vec<Vec<Value>> = session.rows(&translated, &[])?;
    rows.into_iter()
        .next()
        .map(Row::from)
        .ok_or(super::errors::SqlError::NoRows)
}
