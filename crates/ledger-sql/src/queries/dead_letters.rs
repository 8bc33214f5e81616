//! Parked tickets: shown, retried, discarded. They are written in `parking.rs`.

use super::db::{OptionalExtension as _, Row, Transaction, ValueRef, params};
use async_trait::async_trait;
use seckill_ledger::{
    Conflict, Context, DeadLetter, DeadLetterId, DeadLetterState, DeadLetters, Error, Page, PageRequest, Parking,
};
use seckill_sale::{ActivityId, Epoch, EpochMs, RequestId, Ticket, UnitTo};
use serde_json::{Value, json};

use super::admin::{audit, once, row_id};
use super::dialect;
use super::errors::{Stop, found};
use super::pages::{collect, limit, number_cursor, page};
use super::parking::{park, short, ticket_key, unpark};
use super::rows::{SqlResult, moment, number, text, unsigned, user, word, word_of};
use super::{Database, Lane, activities::check_epoch_if_known, returns};

const STATES: [(&str, DeadLetterState); 3] = [
    ("parked", DeadLetterState::Parked),
    ("retried", DeadLetterState::Retried),
    ("discarded", DeadLetterState::Discarded),
];

const UNIT_TO: [(&str, UnitTo); 2] = [("sale", UnitTo::Sale), ("product", UnitTo::Product)];

const LETTER: &str = "SELECT id, activity_id, epoch, sequence, user_id, quantity, request_id, attempts, reason, state,
    parked_at, discard_reason, unit_to FROM dead_letters";

fn read_letter(row: &Row<'_>) -> SqlResult<DeadLetter> {
    let unit_to = row.get_ref(12)? != ValueRef::Null;
    Ok(DeadLetter {
        id: unsigned(row, 0)?,
        ticket: Ticket {
            activity: number(row, 1)?,
            epoch: number(row, 2)?,
            sequence: row.get::<_, i64>(3)?.cast_unsigned(),
        },
        user: user(row, 4)?,
        quantity: number(row, 5)?,
        request_id: text(row, 6, RequestId::new)?,
        attempts: row.get(7)?,
        reason: row.get(8)?,
        state: word(row, 9, &STATES)?,
        parked_at: moment(row, 10)?,
        discard_reason: row.get(11)?,
        unit_to: unit_to.then(|| word(row, 12, &UNIT_TO)).transpose()?,
    })
}

fn letter(transaction: &Transaction<'_>, id: DeadLetterId) -> Result<DeadLetter, Stop> {
    let mut statement = transaction.prepare_cached(&format!("{LETTER} WHERE id = ?1"))?;
    found(statement.query_row([row_id(id)?], read_letter), "dead letter")
}

fn retry(transaction: &Transaction<'_>, id: DeadLetterId, context: &Context) -> Result<DeadLetter, Stop> {
    dialect::lock_letter(transaction, id)?;
    let before = letter(transaction, id)?;
    match before.state {
        DeadLetterState::Retried => return Ok(before),
        DeadLetterState::Discarded => return Err(Conflict::Resolved.into()),
        DeadLetterState::Parked => {}
    }
    unpark(transaction, before.ticket, before.user.as_str())?;
    let mut statement = transaction.prepare_cached("UPDATE dead_letters SET state = 'retried' WHERE id = ?1")?;
    statement.execute([row_id(id)?])?;
    let after = json!({"ticket": before.ticket.to_string()});
    let subject = format!("dead letter {id}");
    audit(
        transaction,
        context,
        "dead_letter.retry",
        &subject,
        &Value::Null,
        &after,
    )?;
    letter(transaction, id)
}

fn discard(
    transaction: &Transaction<'_>,
    id: DeadLetterId,
    reason: &str,
    context: &Context,
) -> Result<DeadLetter, Stop> {
    dialect::lock_letter(transaction, id)?;
    let before = letter(transaction, id)?;
    match before.state {
        DeadLetterState::Discarded => return Ok(before),
        DeadLetterState::Retried => return Err(Conflict::Resolved.into()),
        DeadLetterState::Parked => {}
    }
    let [activity, epoch, sequence] = ticket_key(before.ticket);
    let mut statement = transaction.prepare_cached(
        "UPDATE records SET state = 2, reason = 'discarded'
         WHERE activity_id = ?1 AND user_id = ?2 AND epoch = ?3 AND sequence = ?4 AND state = 0",
    )?;
    // A letter without a record never had its units counted: none come back.
    let had_record = statement.execute(params![activity, before.user.as_str(), epoch, sequence])? == 1;
    let unit_to = if had_record {
        let units = before.quantity.get();
        match returns::return_failed(transaction, before.ticket.activity, units, context.now) {
            Err(Stop::Ledger(Error::NotFound(_))) => None,
            other => other?,
        }
    } else {
        None
    };
    let mut statement = transaction.prepare_cached(
        "UPDATE dead_letters SET state = 'discarded', discard_reason = ?2, unit_to = ?3 WHERE id = ?1",
    )?;
    let reason = short(reason);
    let to = unit_to.map(|to| word_of(&to, &UNIT_TO));
    statement.execute(params![row_id(id)?, reason, to])?;
    let after = json!({"ticket": before.ticket.to_string(), "reason": reason, "unit_to": to});
    let subject = format!("dead letter {id}");
    audit(
        transaction,
        context,
        "dead_letter.discard",
        &subject,
        &Value::Null,
        &after,
    )?;
    letter(transaction, id)
}

#[async_trait]
impl DeadLetters for Database {
    async fn park(&self, tickets: Vec<Parking>, now: EpochMs) -> Result<(), Error> {
        self.write(Lane::Batch, move |transaction| {
            tickets.iter().try_for_each(|parking| park(transaction, parking, now))
        })
        .await
    }

    async fn park_of(&self, epoch: Epoch, tickets: Vec<Parking>, now: EpochMs) -> Result<(), Error> {
        self.write(Lane::Batch, move |transaction| {
            tickets.iter().try_for_each(|parking| {
                let activity = parking.delivery.ticket.activity;
                dialect::lock_sale(transaction, activity)?;
                check_epoch_if_known(transaction, activity, epoch)?;
                park(transaction, parking, now)
            })
        })
        .await
    }

    async fn retried(&self, activity: ActivityId) -> Result<Vec<DeadLetter>, Error> {
        self.read(move |transaction| {
            let sql = format!(
                "{LETTER} WHERE activity_id = ?1 AND state = 'retried' AND NOT EXISTS (SELECT 1 FROM records
                 WHERE records.activity_id = dead_letters.activity_id AND records.user_id = dead_letters.user_id) ORDER BY id"
            );
            let activity = [activity.get().cast_signed()];
            collect(&mut *transaction.prepare_cached(&sql)?, activity, read_letter)
        })
        .await
    }

    async fn dead_letters(&self, request: PageRequest) -> Result<Page<DeadLetter>, Error> {
        self.read(move |transaction| {
            let sql = format!("{LETTER} WHERE id < ?1 ORDER BY id DESC LIMIT ?2");
            let bounds = [number_cursor(&request, i64::MAX)?, limit(&request)];
            let rows = collect(&mut *transaction.prepare_cached(&sql)?, bounds, read_letter)?;
            Ok(page(&request, rows, |last| last.id.to_string()))
        })
        .await
    }

    async fn dead_letter(&self, id: DeadLetterId) -> Result<DeadLetter, Error> {
        self.read(move |transaction| letter(transaction, id)).await
    }

    async fn dead_letter_of(&self, ticket: Ticket) -> Result<Option<DeadLetter>, Error> {
        self.read(move |transaction| {
            let sql =
                format!("{LETTER} WHERE activity_id = ?1 AND epoch = ?2 AND sequence = ?3 ORDER BY id DESC LIMIT 1");
            let mut statement = transaction.prepare_cached(&sql)?;
            Ok(statement.query_row(ticket_key(ticket), read_letter).optional()?)
        })
        .await
    }

    async fn retry_dead_letter(&self, id: DeadLetterId, context: Context) -> Result<DeadLetter, Error> {
        self.write(Lane::Person, move |transaction| {
            let work = || retry(transaction, id, &context).map(|after| (after, id));
            let again = |_| letter(transaction, id);
            once(transaction, &context, "dead_letter.retry", work, again)
        })
        .await
    }

    async fn discard_dead_letter(
        &self,
        id: DeadLetterId,
        reason: String,
        context: Context,
    ) -> Result<DeadLetter, Error> {
        self.write(Lane::Person, move |transaction| {
            let work = || discard(transaction, id, &reason, &context).map(|after| (after, id));
            let again = |_| letter(transaction, id);
            once(transaction, &context, "dead_letter.discard", work, again)
        })
        .await
    }

    async fn parked_count(&self) -> Result<u64, Error> {
        self.read(|transaction| {
            let sql = "SELECT count(*) FROM dead_letters WHERE state = 'parked'";
            Ok(transaction.prepare_cached(sql)?.query_row([], |row| unsigned(row, 0))?)
        })
        .await
    }
}
