//! What operators set and what the house itself keeps. Blocks and schedules have files of their own.

use super::db::{OptionalExtension as _, Transaction, params};
use async_trait::async_trait;
use seckill_ledger::{
    AuditRow, Block, Conflict, Context, Error, Installation, NewActivity, NewBlock, NewSchedule, Operations, Page,
    PageRequest, Schedule, StoredSwitches, Twice,
};
use seckill_sale::{Activity, EpochMs, InstallationId};

use super::admin::{AUDIT_ROW, audit_row, audit_text, once};
use super::blocks::{BLOCK, add_block, block, read_block, remove_block};
use super::dialect;
use super::errors::{Stop, found};
use super::pages::{collect, limit, number_cursor, page};
use super::rows::{signed, small, unsigned};
use super::{Database, Lane, schedules};

fn switches(transaction: &Transaction<'_>) -> Result<Option<StoredSwitches>, Stop> {
    let mut statement = transaction.prepare_cached("SELECT revision, json FROM switches WHERE id = 1")?;
    let row = statement.query_row([], |row| {
        Ok(StoredSwitches {
            revision: unsigned(row, 0)?,
            json: row.get(1)?,
        })
    });
    Ok(row.optional()?)
}

fn set_switches(transaction: &Transaction<'_>, json: &str, expected: u64, context: &Context) -> Result<u64, Stop> {
    dialect::lock_house(transaction)?;
    let before = switches(transaction)?;
    if before.as_ref().map_or(0, |before| before.revision) != expected {
        return Err(Conflict::StaleVersion.into());
    }
    let mut statement = transaction.prepare_cached(match before {
        None => "INSERT INTO switches (id, revision, json) VALUES (1, ?1, ?2)",
        Some(_) => "UPDATE switches SET revision = ?1, json = ?2 WHERE id = 1",
    })?;
    let revision = expected + 1;
    statement.execute(params![small(revision), json])?;
    let before = before.map_or_else(String::new, |before| before.json);
    audit_text(transaction, context, "switches.set", "switches", &before, json)?;
    Ok(revision)
}

fn installation(transaction: &Transaction<'_>) -> Result<Installation, Stop> {
    let mut statement =
        transaction.prepare_cached("SELECT installation_id, settled_batch FROM installation WHERE id = 1")?;
    let row = statement.query_row([], |row| {
        Ok(Installation {
            id: row.get::<_, Option<[u8; 16]>>(0)?.map(InstallationId),
            settled_batch: unsigned(row, 1)?,
        })
    });
    found(row, "installation")
}

fn set_installation(transaction: &Transaction<'_>, id: InstallationId, settled_batch_min: u64) -> Result<(), Stop> {
    dialect::lock_house(transaction)?;
    if installation(transaction)?.id.is_some_and(|present| present != id) {
        return Err(Conflict::StaleVersion.into());
    }
    let mut statement = transaction.prepare_cached(
        "UPDATE installation SET installation_id = ?1, settled_batch = CASE WHEN settled_batch < ?2 THEN ?2 ELSE settled_batch END WHERE id = 1",
    )?;
    statement.execute(params![id.0, signed("batch", settled_batch_min)?])?;
    Ok(())
}

#[async_trait]
impl Operations for Database {
    async fn ping(&self) -> Result<(), Error> {
        self.read(|transaction| installation(transaction).map(drop)).await
    }

    async fn switches(&self) -> Result<Option<StoredSwitches>, Error> {
        self.read(switches).await
    }

    async fn set_switches(&self, json: String, expected: u64, context: Context) -> Result<u64, Error> {
        self.write(Lane::Person, move |transaction| {
            let work = || set_switches(transaction, &json, expected, &context).map(|revision| (revision, revision));
            once(transaction, &context, "switches.set", work, Ok)
        })
        .await
    }

    async fn blocks(&self, now: EpochMs) -> Result<Vec<Block>, Error> {
        self.read(move |transaction| {
            let sql = format!("{BLOCK} WHERE expires_at IS NULL OR expires_at > ?1 ORDER BY id");
            collect(&mut *transaction.prepare_cached(&sql)?, [now.0], read_block)
        })
        .await
    }

    async fn add_block(&self, new: NewBlock, twice: Twice, context: Context) -> Result<Block, Error> {
        self.write(Lane::Person, move |transaction| {
            let work = || add_block(transaction, &new, twice, &context).map(|made| (made.clone(), made.id));
            once(transaction, &context, "block.add", work, |id| block(transaction, id))
        })
        .await
    }

    async fn remove_block(&self, id: u64, context: Context) -> Result<(), Error> {
        self.write(Lane::Person, move |transaction| {
            let work = || remove_block(transaction, id, &context).map(|()| ((), id));
            once(transaction, &context, "block.remove", work, |_| Ok(()))
        })
        .await
    }

    async fn create_schedule(&self, schedule: NewSchedule, context: Context) -> Result<Schedule, Error> {
        self.write(Lane::Person, move |transaction| {
            let work = || schedules::create(transaction, &schedule, &context).map(|made| (made.clone(), made.id));
            let again = |id| schedules::schedule(transaction, id);
            once(transaction, &context, "schedule.create", work, again)
        })
        .await
    }

    async fn schedules(&self) -> Result<Vec<Schedule>, Error> {
        self.read(schedules::all).await
    }

    async fn set_schedule_enabled(&self, id: u64, enabled: bool, context: Context) -> Result<Schedule, Error> {
        self.write(Lane::Person, move |transaction| {
            let work = || schedules::set_enabled(transaction, id, enabled, &context).map(|after| (after, id));
            let again = |_| schedules::schedule(transaction, id);
            once(transaction, &context, "schedule.set_enabled", work, again)
        })
        .await
    }

    async fn make_round(
        &self,
        id: u64,
        round: EpochMs,
        activity: NewActivity,
        context: Context,
    ) -> Result<Activity, Error> {
        let made = self.write(Lane::Person, move |transaction| {
            schedules::make_round(transaction, id, round, &activity, &context)
        });
        made.await?.map_err(Error::from)
    }

    async fn audit_rows(&self, request: PageRequest) -> Result<Page<AuditRow>, Error> {
        self.read(move |transaction| {
            let sql = format!("SELECT {AUDIT_ROW} FROM audit_rows WHERE id < ?1 ORDER BY id DESC LIMIT ?2");
            let bounds = [number_cursor(&request, i64::MAX)?, limit(&request)];
            let rows = collect(&mut *transaction.prepare_cached(&sql)?, bounds, audit_row)?;
            Ok(page(&request, rows, |last| last.id.to_string()))
        })
        .await
    }

    async fn add_audit_row(
        &self,
        action: String,
        subject: String,
        before: String,
        after: String,
        context: Context,
    ) -> Result<(), Error> {
        self.write(Lane::Person, move |transaction| {
            audit_text(transaction, &context, &action, &subject, &before, &after)
        })
        .await
    }

    async fn installation(&self) -> Result<Installation, Error> {
        self.read(installation).await
    }

    async fn set_installation(&self, id: InstallationId, settled_batch_min: u64) -> Result<(), Error> {
        self.write(Lane::Person, move |transaction| {
            set_installation(transaction, id, settled_batch_min)
        })
        .await
    }
}
