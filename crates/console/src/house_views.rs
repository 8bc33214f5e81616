//! What the operator is shown of what he set himself: blocks, schedules, and the rows that say who did what.

use seckill_api::rfc3339;
use seckill_ledger::{AuditRow, Block, BlockKind, Schedule};
use seckill_sale::{Challenge, EpochMs};
use serde::Serialize;
use serde_json::{Value, value::RawValue};

/// A block.
#[derive(Debug, Serialize)]
pub(crate) struct BlockView {
    id: u64,
    kind: BlockKind,
    value: String,
    reason: String,
    /// Null: until removed.
    expires_at: Option<String>,
    created_at: String,
}

impl From<&Block> for BlockView {
    fn from(block: &Block) -> Self {
        Self {
            id: block.id,
            kind: block.block.kind,
            value: block.block.value.clone(),
            reason: block.block.reason.clone(),
            expires_at: block.block.expires_at.map(rfc3339),
            created_at: rfc3339(block.created_at),
        }
    }
}

/// A recurring sale.
#[derive(Debug, Serialize)]
pub(crate) struct ScheduleView {
    id: u64,
    cron: String,
    time_zone: String,
    lead_s: i64,
    duration_s: i64,
    product_id: u64,
    title: String,
    seckill_price_cents: u64,
    stock: u64,
    per_user_limit: u64,
    shards: u16,
    min_level: Option<u32>,
    challenge: Challenge,
    notice: Option<String>,
    enabled: bool,
    /// Start of the newest round that was made or given up.
    last_round: Option<String>,
    last_error: Option<String>,
    /// Start of the round that comes next; null where none does.
    next_round: Option<String>,
    created_at: String,
}

impl ScheduleView {
    pub(crate) fn new(schedule: &Schedule, next_round: Option<EpochMs>) -> Self {
        let template = &schedule.schedule.template;
        Self {
            id: schedule.id,
            cron: schedule.schedule.cron.clone(),
            time_zone: schedule.schedule.time_zone.clone(),
            lead_s: schedule.schedule.lead_ms / 1000,
            duration_s: template.window.ends_at.since(template.window.starts_at) / 1000,
            product_id: template.product_id.get(),
            title: template.title.clone(),
            seckill_price_cents: template.seckill_price.cents(),
            stock: template.stock.get(),
            per_user_limit: template.per_user_limit.get(),
            shards: template.shards,
            min_level: template.min_level,
            challenge: template.challenge,
            notice: template.notice.clone(),
            enabled: schedule.enabled,
            last_round: schedule.last_round.map(rfc3339),
            last_error: schedule.last_error.clone(),
            next_round: next_round.filter(|_| schedule.enabled).map(rfc3339),
            created_at: rfc3339(schedule.created_at),
        }
    }
}

/// One write of an operator or of the house itself.
#[derive(Debug, Serialize)]
pub(crate) struct AuditRowView {
    id: u64,
    at: String,
    actor: String,
    action: String,
    subject: String,
    /// Null where there was nothing.
    before: Recorded,
    /// Null where there is nothing.
    after: Recorded,
}

/// What a row kept as text: JSON as it is, anything else as a string.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Recorded {
    Json(Box<RawValue>),
    Text(Value),
}

impl From<&str> for Recorded {
    fn from(text: &str) -> Self {
        if text.is_empty() {
            return Self::Text(Value::Null);
        }
        RawValue::from_string(text.to_owned()).map_or_else(|_| Self::Text(Value::from(text)), Self::Json)
    }
}

impl From<&AuditRow> for AuditRowView {
    fn from(row: &AuditRow) -> Self {
        Self {
            id: row.id,
            at: rfc3339(row.at),
            actor: row.actor.clone(),
            action: row.action.clone(),
            subject: row.subject.clone(),
            before: row.before.as_str().into(),
            after: row.after.as_str().into(),
        }
    }
}
