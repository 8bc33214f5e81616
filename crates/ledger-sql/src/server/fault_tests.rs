//! What only a bug of ours could do: pass a failed statement over.

use seckill_testkit::{Database, Kind, MariaDbServer, PostgresServer};

use super::ServerOptions;
use super::access::Access;
use super::connection::Connection;
use super::wire::Target;
use seckill_ledger::Error;

/// PostgreSQL would answer the COMMIT with a rollback and without an error, MariaDB would keep what the other statements did.
fn a_failed_statement_that_is_passed_over_is_never_committed<K: Kind>() {
    let database = Database::<K>::fresh();
    let target = Target::parse(&database.url()).unwrap();
    let mut connection = Connection::new(&target, Access::Write, ServerOptions::default()).unwrap();
    let session = connection.session().unwrap();
    session.say("CREATE TABLE songs (id BIGINT PRIMARY KEY)").unwrap();
    let done = connection.in_transaction(|transaction| {
        let mut insert = transaction.prepare_cached("INSERT INTO songs (id) VALUES (?1)")?;
        insert.execute([1_i64])?;
        assert!(insert.execute([1_i64]).is_err());
        Ok(())
    });
    assert!(matches!(&done, Err(Error::Outage(_))), "{done:?}");
    let count = connection.in_transaction(|transaction| {
        let mut count = transaction.prepare_cached("SELECT count(*) FROM songs WHERE id = ?1")?;
        Ok(count.query_row([1_i64], |row| row.get::<_, i64>(0))?)
    });
    assert_eq!(count, Ok(0));
}

#[test]
fn postgres_never_commits_what_failed() {
    a_failed_statement_that_is_passed_over_is_never_committed::<PostgresServer>();
}

#[test]
fn mariadb_never_commits_what_failed() {
    a_failed_statement_that_is_passed_over_is_never_committed::<MariaDbServer>();
}
