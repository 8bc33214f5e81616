//! Would a batch be written now? It is tried out: every lock and right that a batch needs is asked for, and no row is changed. A server that is
//! locked or only reads answers questions all the same.

use seckill_sale::{ActivityId, Finding};

use super::errors::is_denied;
use super::session::Session;
use super::translate::Family;
use super::values::SqlResult;

/// A lock that somebody else holds is waited for so long, in seconds.
const LOCK_WAIT_S: u8 = 1;

/// Statements that find no row but the last one, whose row stays as it is. Tables are locked and rights are asked for before rows are looked at.
const STATEMENTS: &[&str] = &[
    "INSERT INTO orders SELECT * FROM orders WHERE 1 = 0",
    "INSERT INTO records SELECT * FROM records WHERE 1 = 0",
    "INSERT INTO stock_movements (activity_id, kind, units, moved_at) SELECT activity_id, kind, units, moved_at FROM stock_movements WHERE 1 = 0",
    "INSERT INTO audit_rows SELECT * FROM audit_rows WHERE 1 = 0",
    "DELETE FROM records WHERE 1 = 0",
    "UPDATE records SET state = state WHERE 1 = 0",
    "UPDATE orders SET state = state WHERE 1 = 0",
    "UPDATE dead_letters SET state = state WHERE 1 = 0",
    "UPDATE products SET version = version WHERE 1 = 0",
    "UPDATE activities SET version = version WHERE 1 = 0",
    "UPDATE stock SET version = version WHERE 1 = 0",
    "UPDATE installation SET settled_batch = settled_batch WHERE id = 1",
];

/// What came of it, in the areas `rights` and `writes`.
pub(super) fn writes(session: &mut Session, sale: Option<ActivityId>) -> Vec<Finding> {
    let rights = Finding::passed("rights", "the user may do everything that is needed");
    let Err(error) = attempt(session, sale) else {
        return vec![rights, Finding::passed("writes", "a batch can be written")];
    };
    // What was said before is said no more: the session is at its beginning again, or gone.
    let _ = session.say("ROLLBACK");
    if is_denied(&error) {
        let sentence = format!(
            "the user may not do what is needed: {error}; grant SELECT, INSERT, UPDATE and DELETE on all tables"
        );
        return vec![Finding::failed("rights", sentence)];
    }
    vec![Finding::failed("writes", format!("a batch can't be written: {error}"))]
}

fn attempt(session: &mut Session, sale: Option<ActivityId>) -> SqlResult<()> {
    session.say(&match session.family() {
        Family::Postgres => format!("SET lock_timeout = '{LOCK_WAIT_S}s'"),
        Family::MySql => {
            format!("SET SESSION lock_wait_timeout = {LOCK_WAIT_S}, SESSION innodb_lock_wait_timeout = {LOCK_WAIT_S}")
        }
    })?;
    session.say("START TRANSACTION")?;
    STATEMENTS.iter().try_for_each(|statement| session.say(statement))?;
    if let Some(sale) = sale {
        session.say(&format!(
            "SELECT activity_id FROM stock WHERE activity_id = {sale} FOR UPDATE"
        ))?;
    }
    session.say("COMMIT")
}
