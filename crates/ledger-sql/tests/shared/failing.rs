//! A database that answers no more once it has committed so often: what was asked first is in it, and whatever reads or writes then fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use seckill_ledger_sql::Sqlite;

/// Lets `commits` more transactions that write be committed; then nothing is read or written any more. Only a ledger whose connection is on
/// the caller's thread can be told.
pub(crate) fn fail_after(ledger: &Sqlite, commits: i64) {
    let left = Arc::new(AtomicI64::new(if commits == 0 { -1 } else { commits }));
    let committed = left.clone();
    let told = ledger.inspect(move |connection| {
        let commit = move || {
            committed.fetch_sub(1, Ordering::SeqCst);
            false
        };
        // The commit itself has one step left, and is to be heard of.
        let is_over = move || left.load(Ordering::SeqCst) <= 0 && left.fetch_sub(1, Ordering::SeqCst) < 0;
        connection.commit_hook(Some(commit)).expect("our own connection");
        connection
            .progress_handler(1, Some(is_over))
            .expect("our own connection");
    });
    told.expect("the connection is on this thread");
}

/// Answers again.
pub(crate) fn answer_again(ledger: &Sqlite) {
    let told = ledger.inspect(|connection| {
        connection
            .progress_handler(1, None::<fn() -> bool>)
            .expect("our own connection");
        connection
            .commit_hook(None::<fn() -> bool>)
            .expect("our own connection");
        if !connection.is_autocommit() {
            connection.execute_batch("ROLLBACK").expect("a transaction is open");
        }
    });
    told.expect("the connection is on this thread");
}
