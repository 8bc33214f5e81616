//! What a connection tells the server when it begins: how its transactions see each other, and how long it waits for whom.

use super::translate::Family;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Write,
    Read,
}

/// Statements that prepare a new connection.
pub(super) fn settings(family: Family, access: Access, lock_wait_s_max: u8) -> String {
    let wait = lock_wait_s_max.max(1);
    match (family, access) {
        (Family::Postgres, Access::Write) => format!("{POSTGRES_WRITES}; SET lock_timeout = '{wait}s'"),
        (Family::Postgres, Access::Read) => POSTGRES_READS.to_owned(),
        (Family::MySql, Access::Write) => format!("{MYSQL_WRITES}; SET SESSION innodb_lock_wait_timeout = {wait}"),
        (Family::MySql, Access::Read) => MYSQL_READS.to_owned(),
    }
}

/// Each query sees the newest commit: what is read behind a lock is as the one who had it before left it, and a batch that takes the stock
/// row last finds what others wrote while it waited.
const POSTGRES_WRITES: &str = "SET default_transaction_isolation = 'read committed';
    SET statement_timeout = '30s'; SET idle_in_transaction_session_timeout = '60s'; SET client_min_messages = 'warning'";

/// All of a transaction's queries see the same commit.
const POSTGRES_READS: &str = "SET default_transaction_isolation = 'repeatable read'; SET statement_timeout = '30s';
    SET idle_in_transaction_session_timeout = '60s'";

const MYSQL_WRITES: &str =
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ANSI_QUOTES,NO_ZERO_DATE,NO_ZERO_IN_DATE,NO_ENGINE_SUBSTITUTION';
    SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";

const MYSQL_READS: &str =
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ANSI_QUOTES,NO_ZERO_DATE,NO_ZERO_IN_DATE,NO_ENGINE_SUBSTITUTION';
    SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ";
