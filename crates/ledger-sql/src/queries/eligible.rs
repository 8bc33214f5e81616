//! Lists of those who may buy: one row that says how a list is written down, and its bytes in pieces.

use std::sync::Arc;

use super::db::{OptionalExtension as _, Transaction, params, unreadable};
use async_trait::async_trait;
use seckill_ledger::{Conflict, Context, Eligible, EligibleForm, EligibleList, Error};
use seckill_sale::{Activity, ActivityId, Status};

use super::activities::{activity, count_version};
use super::activity_changes::audited;
use super::admin::once;
use super::dialect;
use super::errors::Stop;
use super::pages::collect;
use super::rows::{number, signed, small, unsigned};
use super::{Database, Lane};

/// Bytes of a piece: far below what any database takes as one value by default (MariaDB: 16 MiB in a packet).
const PIECE_BYTES: usize = 512 * 1024;
/// Milliseconds after which the part of a list's version that says its moment begins anew: 49 days.
const MOMENTS: i64 = 1 << 32;

/// Removes the rows of a list, whether or not there is one.
pub(super) fn forget(transaction: &Transaction<'_>, id: ActivityId) -> Result<(), Stop> {
    for sql in [
        "DELETE FROM eligible_pieces WHERE activity_id = ?1",
        "DELETE FROM eligible_lists WHERE activity_id = ?1",
    ] {
        transaction.prepare_cached(sql)?.execute([small(id.get())])?;
    }
    Ok(())
}

fn set(
    transaction: &Transaction<'_>,
    id: ActivityId,
    list: &EligibleList,
    context: &Context,
) -> Result<Activity, Stop> {
    dialect::lock_sale(transaction, id)?;
    let before = activity(transaction, id)?;
    if before.status == Status::Closed {
        return Err(Conflict::Closed.into());
    }
    forget(transaction, id)?;
    count_version(transaction, id)?;
    // The version of the activity, which was just counted up, whatever any clock says. Behind it the moment, which tells it from a list of
    // the same version of the activity that a ledger had before it was restored from an older copy.
    let mut statement =
        transaction.prepare_cached("UPDATE activities SET eligible_list = version * ?3 + ?2 WHERE id = ?1")?;
    statement.execute(params![small(id.get()), context.now.0.rem_euclid(MOMENTS), MOMENTS])?;
    let (salt, bits, hashes) = match &list.form {
        EligibleForm::Users { salt } => (&salt[..], None, None),
        EligibleForm::Bloom { bits, hashes } => (&[][..], Some(signed("bits", *bits)?), Some(i64::from(*hashes))),
    };
    let mut statement = transaction
        .prepare_cached("INSERT INTO eligible_lists (activity_id, salt, bits, hashes) VALUES (?1, ?2, ?3, ?4)")?;
    statement.execute(params![small(id.get()), salt, bits, hashes])?;
    let mut statement =
        transaction.prepare_cached("INSERT INTO eligible_pieces (activity_id, piece, bytes) VALUES (?1, ?2, ?3)")?;
    for (at, piece) in (0_i64..).zip(list.bytes.chunks(PIECE_BYTES)) {
        statement.execute(params![small(id.get()), at, piece])?;
    }
    audited(transaction, id, "activity.set_eligible_list", &before, context)
}

fn remove(transaction: &Transaction<'_>, id: ActivityId, context: &Context) -> Result<Activity, Stop> {
    dialect::lock_sale(transaction, id)?;
    let before = activity(transaction, id)?;
    if before.eligibility.list.is_none() {
        return Ok(before);
    }
    forget(transaction, id)?;
    count_version(transaction, id)?;
    let mut statement = transaction.prepare_cached("UPDATE activities SET eligible_list = NULL WHERE id = ?1")?;
    statement.execute([small(id.get())])?;
    audited(transaction, id, "activity.remove_eligible_list", &before, context)
}

fn read(transaction: &Transaction<'_>, id: ActivityId, version: u64) -> Result<Option<EligibleList>, Stop> {
    let mut statement = transaction.prepare_cached(
        "SELECT l.salt, l.bits, l.hashes FROM eligible_lists l JOIN activities a ON a.id = l.activity_id
         WHERE l.activity_id = ?1 AND a.eligible_list = ?2",
    )?;
    let form = statement.query_row([small(id.get()), signed("version", version)?], |row| {
        match row.get::<_, Option<i64>>(1)? {
            Some(_) => Ok(EligibleForm::Bloom {
                bits: unsigned(row, 1)?,
                hashes: row.get(2)?,
            }),
            None => Ok(EligibleForm::Users { salt: row.get(0)? }),
        }
    });
    let Some(form) = form.optional()? else { return Ok(None) };
    let mut statement =
        transaction.prepare_cached("SELECT bytes FROM eligible_pieces WHERE activity_id = ?1 ORDER BY piece")?;
    let pieces = collect(&mut statement, [small(id.get())], |row| {
        row.get_ref(0)?.as_blob().map(<[u8]>::to_vec).map_err(unreadable)
    })?;
    let bytes = pieces.concat();
    Ok(Some(EligibleList { form, bytes }))
}

#[async_trait]
impl Eligible for Database {
    async fn set_eligible_list(
        &self,
        id: ActivityId,
        list: Arc<EligibleList>,
        context: Context,
    ) -> Result<Activity, Error> {
        self.write(Lane::Person, move |transaction| {
            let work = || set(transaction, id, &list, &context).map(|after| (after, id.get()));
            let again = |_| activity(transaction, id);
            once(transaction, &context, "activity.set_eligible_list", work, again)
        })
        .await
    }

    async fn remove_eligible_list(&self, id: ActivityId, context: Context) -> Result<Activity, Error> {
        self.write(Lane::Person, move |transaction| {
            let work = || remove(transaction, id, &context).map(|after| (after, id.get()));
            let again = |_| activity(transaction, id);
            once(transaction, &context, "activity.remove_eligible_list", work, again)
        })
        .await
    }

    async fn eligible_list(&self, id: ActivityId, version: u64) -> Result<Option<EligibleList>, Error> {
        self.read(move |transaction| read(transaction, id, version)).await
    }

    async fn eligible_versions(&self) -> Result<Vec<(ActivityId, u64)>, Error> {
        self.read(|transaction| {
            let sql = "SELECT id, eligible_list FROM activities WHERE eligible_list IS NOT NULL AND closed_at IS NULL ORDER BY id";
            collect(&mut *transaction.prepare_cached(sql)?, [], |row| {
                Ok((number(row, 0)?, unsigned(row, 1)?))
            })
        })
        .await
    }
}
