//! Brings the tables to this version, each step in order and once, and refuses a database that it does not understand.
//!
//! A step first expands (new tables, new columns that may be empty); what it replaces is removed by a step of a later version, so that
//! one older program may still run beside it.

use std::collections::BTreeMap;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::connection::run_transaction;
use super::errors::{Stop, rejected};

/// All steps, ascending. A step that was released is never changed.
const STEPS: &[(i64, &str)] = &[(1, include_str!("../../migrations/sqlite/0001_initial.sql"))];

/// Migrates and then compares the tables with those of an empty, migrated database.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), Stop> {
    apply(connection)?;
    let mut expected = Connection::open_in_memory()?;
    apply(&mut expected)?;
    let (present, expected) = (objects(connection)?, objects(&expected)?);
    for (name, sql) in &expected {
        match present.get(name) {
            Some(same) if same == sql => {}
            Some(_) => {
                return Err(rejected(format!(
                    "the database's {name} was changed by somebody; it has to be as by: {sql}"
                )));
            }
            None => return Err(rejected(format!("the database lacks {name}; run: {sql};"))),
        }
    }
    Ok(())
}

fn apply(connection: &mut Connection) -> Result<(), Stop> {
    run_transaction(connection, TransactionBehavior::Immediate, |transaction| {
        let present = version(transaction)?;
        let newest = STEPS.last().map_or(0, |step| step.0);
        if newest < present {
            return Err(rejected(format!(
                "the database is of version {present}, made by a newer seckill; this one knows versions up to {newest}"
            )));
        }
        for (number, sql) in STEPS.iter().filter(|step| present < step.0) {
            transaction.execute_batch(sql)?;
            transaction.execute("INSERT INTO schema_version (version) VALUES (?1)", [number])?;
        }
        Ok(())
    })
}

/// Version of the newest step in the database; 0 in an empty one.
fn version(transaction: &Transaction<'_>) -> Result<i64, Stop> {
    let ours = transaction.query_row(
        "SELECT count(*), count(*) FILTER (WHERE name = 'schema_version') FROM sqlite_schema",
        [],
        |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)),
    )?;
    match ours {
        (_, 1) => {
            let newest = "SELECT coalesce(max(version), 0) FROM schema_version";
            Ok(transaction.query_row(newest, [], |row| row.get(0))?)
        }
        (0, _) => {
            transaction.execute_batch("CREATE TABLE schema_version (version INTEGER PRIMARY KEY) STRICT")?;
            Ok(0)
        }
        _ => Err(rejected("the database holds tables of another program")),
    }
}

/// Name and text of each table and index.
fn objects(connection: &Connection) -> Result<BTreeMap<String, String>, Stop> {
    let mut statement =
        connection.prepare("SELECT type || ' ' || name, sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use seckill_ledger::Error;

    use super::*;

    fn migrated() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection).unwrap();
        connection
    }

    fn refusal(connection: &mut Connection) -> String {
        Error::from(migrate(connection).unwrap_err()).to_string()
    }

    #[test]
    fn migrating_twice_changes_nothing() {
        let mut connection = migrated();
        let before = objects(&connection).unwrap();
        migrate(&mut connection).unwrap();
        assert_eq!(objects(&connection).unwrap(), before);
    }

    #[test]
    fn a_newer_database_is_refused_and_left_alone() {
        let mut connection = migrated();
        connection
            .execute("INSERT INTO schema_version (version) VALUES (99)", [])
            .unwrap();
        assert!(refusal(&mut connection).contains("version 99"));
    }

    #[test]
    fn a_database_of_another_program_is_refused_and_left_alone() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE songs (title TEXT)").unwrap();
        assert!(refusal(&mut connection).contains("another program"));
        assert_eq!(objects(&connection).unwrap().len(), 1);
    }

    #[test]
    fn a_missing_index_is_refused_with_the_statement_that_makes_it() {
        let mut connection = migrated();
        connection.execute_batch("DROP INDEX payments_one_that_pays").unwrap();
        let said = refusal(&mut connection);
        let statement = said.split("run: ").nth(1).unwrap();
        assert!(
            statement.starts_with("CREATE UNIQUE INDEX payments_one_that_pays"),
            "{said}"
        );
        connection.execute_batch(statement).unwrap();
        migrate(&mut connection).unwrap();
    }

    #[test]
    fn a_table_without_its_rules_is_refused() {
        let mut connection = migrated();
        connection
            .execute_batch("DROP TABLE records; CREATE TABLE records (activity_id INTEGER, user_id TEXT)")
            .unwrap();
        assert!(refusal(&mut connection).contains("table records"));
    }
}
