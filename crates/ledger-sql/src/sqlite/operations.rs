//! What operators set and what the house itself keeps. Schedules are in `schedules.rs`.

use async_trait::async_trait;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};
use seckill_ledger::{
    AuditRow, Block, BlockKind, Conflict, Context, Error, Installation, NewActivity, NewBlock, NewSchedule, Operations,
    Page, PageRequest, Schedule, StoredSwitches,
};
use seckill_sale::{Activity, EpochMs, InstallationId};
use serde_json::{Value, json};

use super::admin::{AUDIT_ROW, audit, audit_row, audit_text, once, row_id};
use super::errors::{Stop, found};
use super::pages::{collect, limit, number_cursor, page};
use super::rows::{SqlResult, maybe_moment, moment, signed, small, unsigned, word, word_of};
use super::threads::Lane;
use super::{Sqlite, schedules};

const KINDS: [(&str, BlockKind); 3] = [
    ("ip", BlockKind::Ip),
    ("user", BlockKind::User),
    ("device", BlockKind::Device),
];

const BLOCK: &str = "SELECT id, kind, value, reason, expires_at, created_at FROM blocks";

fn read_block(row: &Row<'_>) -> SqlResult<Block> {
    Ok(Block {
        id: unsigned(row, 0)?,
        block: NewBlock {
            kind: word(row, 1, &KINDS)?,
            value: row.get(2)?,
            reason: row.get(3)?,
            expires_at: maybe_moment(row, 4)?,
        },
        created_at: moment(row, 5)?,
    })
}

fn block(transaction: &Transaction<'_>, id: u64) -> Result<Block, Stop> {
    let mut statement = transaction.prepare_cached(&format!("{BLOCK} WHERE id = ?1"))?;
    found(statement.query_row([row_id(id)?], read_block), "block")
}

fn told(block: &Block) -> Value {
    let NewBlock {
        kind,
        value,
        reason,
        expires_at,
    } = &block.block;
    json!({"kind": kind, "value": value, "reason": reason, "expires_at": expires_at})
}

fn add_block(transaction: &Transaction<'_>, new: &NewBlock, context: &Context) -> Result<Block, Stop> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO blocks (kind, value, reason, expires_at, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let kind = word_of(&new.kind, &KINDS);
    let expires_at = new.expires_at.map(|at| at.0);
    let id = statement.insert(params![kind, new.value, new.reason, expires_at, context.now.0])?;
    let made = block(transaction, id.cast_unsigned())?;
    audit(
        transaction,
        context,
        "block.add",
        &format!("block {id}"),
        &Value::Null,
        &told(&made),
    )?;
    Ok(made)
}

fn remove_block(transaction: &Transaction<'_>, id: u64, context: &Context) -> Result<(), Stop> {
    let before = block(transaction, id)?;
    let mut statement = transaction.prepare_cached("DELETE FROM blocks WHERE id = ?1")?;
    statement.execute([row_id(id)?])?;
    audit(
        transaction,
        context,
        "block.remove",
        &format!("block {id}"),
        &told(&before),
        &Value::Null,
    )
}

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
    let before = switches(transaction)?;
    if before.as_ref().map_or(0, |before| before.revision) != expected {
        return Err(Conflict::StaleVersion.into());
    }
    let mut statement = transaction.prepare_cached(
        "INSERT INTO switches (id, revision, json) VALUES (1, ?1, ?2)
         ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, json = excluded.json",
    )?;
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
    if installation(transaction)?.id.is_some_and(|present| present != id) {
        return Err(Conflict::StaleVersion.into());
    }
    let mut statement = transaction.prepare_cached(
        "UPDATE installation SET installation_id = ?1, settled_batch = max(settled_batch, ?2) WHERE id = 1",
    )?;
    statement.execute(params![id.0, signed("batch", settled_batch_min)?])?;
    Ok(())
}

#[async_trait]
impl Operations for Sqlite {
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

    async fn add_block(&self, new: NewBlock, context: Context) -> Result<Block, Error> {
        self.write(Lane::Person, move |transaction| {
            let work = || add_block(transaction, &new, &context).map(|made| (made.clone(), made.id));
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
