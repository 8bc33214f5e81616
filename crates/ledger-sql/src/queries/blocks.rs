//! Who is kept out.

use super::db::{Row, Transaction, params};
use seckill_ledger::{Block, BlockKind, Context, NewBlock, Twice};
use seckill_sale::EpochMs;
use serde_json::{Value, json};

use super::admin::{audit, row_id};
use super::errors::{Stop, found};
use super::rows::{SqlResult, maybe_moment, moment, unsigned, word, word_of};

const KINDS: [(&str, BlockKind); 3] = [
    ("ip", BlockKind::Ip),
    ("user", BlockKind::User),
    ("device", BlockKind::Device),
];

pub(super) const BLOCK: &str = "SELECT id, kind, value, reason, expires_at, created_at FROM blocks";

pub(super) fn read_block(row: &Row<'_>) -> SqlResult<Block> {
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

pub(super) fn block(transaction: &Transaction<'_>, id: u64) -> Result<Block, Stop> {
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

/// Blocks of this subject that hold, oldest first. Two nodes that block somebody at the same moment leave two.
fn holding(transaction: &Transaction<'_>, new: &NewBlock, now: EpochMs) -> Result<Vec<Block>, Stop> {
    let sql = format!("{BLOCK} WHERE kind = ?1 AND value = ?2 AND (expires_at IS NULL OR expires_at > ?3) ORDER BY id");
    let mut statement = transaction.prepare_cached(&sql)?;
    let kind = word_of(&new.kind, &KINDS);
    let rows = statement
        .query_map(params![kind, new.value, now.0], read_block)?
        .collect::<SqlResult<Vec<_>>>()?;
    Ok(rows)
}

/// The block, whose subject has one entry.
pub(super) fn add_block(
    transaction: &Transaction<'_>,
    new: &NewBlock,
    twice: Twice,
    context: &Context,
) -> Result<Block, Stop> {
    let holding = holding(transaction, new, context.now)?;
    let Some((first, others)) = holding.split_first() else {
        return insert(transaction, new, context);
    };
    if twice == Twice::EarlierHolds {
        return Ok(first.clone());
    }
    for other in others {
        remove_block(transaction, other.id, context)?;
    }
    change(transaction, first, new, context)
}

fn change(transaction: &Transaction<'_>, before: &Block, new: &NewBlock, context: &Context) -> Result<Block, Stop> {
    let mut statement = transaction.prepare_cached("UPDATE blocks SET reason = ?2, expires_at = ?3 WHERE id = ?1")?;
    statement.execute(params![row_id(before.id)?, new.reason, new.expires_at.map(|at| at.0)])?;
    let after = block(transaction, before.id)?;
    let subject = format!("block {}", before.id);
    audit(
        transaction,
        context,
        "block.change",
        &subject,
        &told(before),
        &told(&after),
    )?;
    Ok(after)
}

fn insert(transaction: &Transaction<'_>, new: &NewBlock, context: &Context) -> Result<Block, Stop> {
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

pub(super) fn remove_block(transaction: &Transaction<'_>, id: u64, context: &Context) -> Result<(), Stop> {
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
