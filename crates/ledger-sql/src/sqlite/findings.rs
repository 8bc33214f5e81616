//! Looks an SQLite file over before a sale.

use rusqlite::Transaction;

use super::Sqlite;
use super::errors::Stop;
use super::upkeep;
use crate::finding::{Finding, Verdict};

impl Sqlite {
    /// What there is to say of the file. Opening it has seen to its version, its tables and its settings; so what is left to find is
    /// damage.
    ///
    /// # Errors
    /// [`seckill_ledger::Error::Outage`] where it can't be read.
    pub async fn findings(&self) -> Result<Vec<Finding>, seckill_ledger::Error> {
        self.read(findings).await
    }
}

fn findings(transaction: &Transaction<'_>) -> Result<Vec<Finding>, Stop> {
    let version = format!("SQLite {}, which keeps what it has committed", rusqlite::version());
    let mut findings = vec![
        Finding::new("version", Verdict::Passed, version),
        Finding::new("schema", Verdict::Passed, "the tables are of this version"),
    ];
    let damages = upkeep::damages(transaction)?;
    if damages.is_empty() {
        findings.push(Finding::new("rows", Verdict::Passed, "every page and row can be read"));
    }
    findings.extend(
        damages
            .into_iter()
            .map(|damage| Finding::new("rows", Verdict::Failed, damage)),
    );
    Ok(findings)
}
