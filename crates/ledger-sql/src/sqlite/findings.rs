//! Looks an SQLite file over before a sale. Opening it has seen to its version, its tables and its settings; what is left to find is damage,
//! and whether a write goes through.

use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::Transaction;
use seckill_ledger::Examined;
use seckill_sale::{ActivityId, Clock, Finding};

use super::Sqlite;
use super::errors::Stop;
use super::upkeep;
use crate::threads::Lane;

/// A larger file is not read from end to end while people wait.
const READ_WHOLE_BYTES_MAX: i64 = 64 << 20;

#[async_trait]
impl Examined for Sqlite {
    /// The file's clock is this node's, and its stock rows have no locks of their own.
    async fn examine(&self, _clock: Arc<dyn Clock>, _sale: Option<ActivityId>) -> Vec<Finding> {
        let mut found = match self.read(findings).await {
            Ok(found) => found,
            Err(error) => vec![Finding::failed("connection", error.to_string())],
        };
        // A commit that changes nothing is one all the same: it takes the lock, writes a page and syncs it.
        let written = self.write(Lane::Person, |transaction| {
            transaction.execute("UPDATE installation SET settled_batch = settled_batch WHERE id = 1", [])?;
            Ok(())
        });
        found.push(match written.await {
            Ok(()) => Finding::passed("writes", "a batch can be written"),
            Err(error) => Finding::failed("writes", format!("a batch can't be written: {error}")),
        });
        found
    }
}

fn findings(transaction: &Transaction<'_>) -> Result<Vec<Finding>, Stop> {
    let version = format!("SQLite {}, which keeps what it has committed", rusqlite::version());
    let mut findings = vec![
        Finding::passed("version", version),
        Finding::passed("schema", "the tables are of this version"),
    ];
    let pragma = |name: &str| transaction.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let bytes = pragma("page_count")?.saturating_mul(pragma("page_size")?);
    if READ_WHOLE_BYTES_MAX < bytes {
        let sentence = format!("{} MiB were not looked through for damage", bytes >> 20);
        findings.push(Finding::passed("rows", sentence));
        return Ok(findings);
    }
    let damages = upkeep::damages(transaction)?;
    if damages.is_empty() {
        findings.push(Finding::passed("rows", "every page and row can be read"));
    }
    findings.extend(damages.into_iter().map(|damage| Finding::failed("rows", damage)));
    Ok(findings)
}
