//! Blocks that nobody set by hand: those whom the gate of this node named.

use seckill_gate::{BLOCKS_MAX, OFFENCE, Offender, Subject};
use seckill_ledger::{Block, BlockKind, Context, Error, NewBlock, Twice};
use seckill_sale::EpochMs;

use super::word;
use crate::state::Console;

/// Who keeps out whom the rules of abuse name.
const ABUSE_ACTOR: &str = "abuse rule";
/// Offenders that are written in one turn. The others are named again when they are refused again.
const OFFENDERS_A_TURN: usize = 64;
/// Blocks by rules that hold at the same time: a farm that is blocked account by account must not fill the list of the operators, nor the
/// audit log, nor what every node reads anew.
const BLOCKS_BY_RULE_MAX: usize = BLOCKS_MAX / 10;

/// Writes down whom the gate of this node named, and adds them to the blocks that hold. Those who are blocked by now, or don't fit, are let
/// go: they are named again. The caller holds the lock.
pub(super) async fn keep_out_offenders(console: &Console, known: &mut Vec<Block>) -> Result<(), Error> {
    let mut offenders = console.gate.abuse().take();
    if offenders.is_empty() {
        return Ok(());
    }
    let now = console.now();
    offenders.retain(|offender| {
        let (kind, value) = (offender.subject.kind(), offender.subject.to_string());
        let is_it = |block: &Block| word(block.block.kind) == kind && block.block.value == value;
        !known.iter().any(is_it)
    });
    let by_rule_now = known
        .iter()
        .filter(|block| block.block.reason.starts_with(OFFENCE))
        .count();
    let most = BLOCKS_BY_RULE_MAX
        .saturating_sub(by_rule_now)
        .min(BLOCKS_MAX.saturating_sub(known.len()));
    if most == 0 {
        tracing::warn!(
            by_rule_now,
            "no more blocks by rules of abuse: limits hold, blocks of networks help"
        );
    }
    let room = most.min(OFFENDERS_A_TURN);
    for offender in offenders.into_iter().take(room) {
        let block = console
            .ledger()
            .add_block(block_of(&offender), Twice::EarlierHolds, by_rule(now))
            .await?;
        tracing::warn!(id = block.id, subject = %offender.subject, reason = offender.reason, "blocked by a rule of abuse");
        known.push(block);
    }
    Ok(())
}

fn block_of(offender: &Offender) -> NewBlock {
    NewBlock {
        kind: match offender.subject {
            Subject::Network(_) => BlockKind::Ip,
            Subject::User(_) => BlockKind::User,
            Subject::Device(_) => BlockKind::Device,
        },
        value: offender.subject.to_string(),
        reason: offender.reason.clone(),
        expires_at: Some(offender.expires_at),
    }
}

fn by_rule(now: EpochMs) -> Context {
    Context {
        actor: ABUSE_ACTOR.to_owned(),
        now,
        idempotency: None,
    }
}
