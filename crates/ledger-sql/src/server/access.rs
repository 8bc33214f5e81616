//! What a connection tells the server when it begins: how its transactions see each other, and how long it waits for whom.
//!
//! Writers see the newest commit with each query: what is read behind a lock is as the one who had it before left it, and a batch that takes
//! the stock row last finds what others wrote while it waited. All of a reader's queries see the same commit.
//!
//! A process that stands still in a transaction, or whose machine is gone, must not keep a sale's row from all others: the server ends its
//! connection. PostgreSQL and MariaDB could tell one in a transaction from others, MySQL can't: there `wait_timeout` ends both, and costs
//! nothing, since we give a connection back that is idle for half as long.

use super::ServerOptions;
use super::translate::Family;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Write,
    Read,
}

/// How long a connection waits, and is waited for, in seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waits {
    lock_s_max: u8,
    idle_s_max: u8,
}

impl From<ServerOptions> for Waits {
    fn from(options: ServerOptions) -> Self {
        Self {
            lock_s_max: options.lock_wait_s_max.max(1),
            idle_s_max: options.idle_s_max.max(1),
        }
    }
}

/// Statements that prepare a new connection.
pub(super) fn settings(family: Family, access: Access, waits: Waits) -> String {
    let Waits { lock_s_max, idle_s_max } = waits;
    let (isolation, locks) = match access {
        Access::Write => ("read committed", true),
        Access::Read => ("repeatable read", false),
    };
    let (mut said, lock) = match family {
        Family::Postgres => (
            format!(
                "SET default_transaction_isolation = '{isolation}'; SET statement_timeout = '30s';
                 SET idle_in_transaction_session_timeout = '{idle_s_max}s'; SET client_min_messages = 'warning'"
            ),
            format!("; SET lock_timeout = '{lock_s_max}s'"),
        ),
        Family::MySql => (
            format!(
                "SET SESSION sql_mode = '{MODE}', SESSION wait_timeout = {idle_s_max};
                 SET SESSION TRANSACTION ISOLATION LEVEL {isolation}"
            ),
            format!("; SET SESSION innodb_lock_wait_timeout = {lock_s_max}"),
        ),
    };
    if locks {
        said.push_str(&lock);
    }
    said
}

const MODE: &str = "STRICT_ALL_TABLES,ANSI_QUOTES,NO_ZERO_DATE,NO_ZERO_IN_DATE,NO_ENGINE_SUBSTITUTION";
