//! Who may not take part. The ledger keeps the list; this node's gate follows before the answer, other nodes by their own [`refresh`].

mod offenders;

use http::{StatusCode, Uri};
use ipnet::IpNet;
use seckill_api::Answer;
use seckill_gate::{BLOCKS_MAX, Block as InForce, Subject};
use seckill_ledger::{Block, BlockKind, Error as Ledger, NewBlock, Twice};
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, RowInPath};
use crate::error::Error;
use crate::house_views::BlockView;
use crate::input;
use crate::list::{self, PageQuery};
use crate::outer::Reply;
use crate::state::Console;
use crate::write::{Nothing, Write};

use offenders::keep_out_offenders;

/// Somebody to be kept out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    kind: BlockKind,
    value: String,
    #[serde(default)]
    reason: Option<String>,
    /// None: until removed.
    #[serde(default)]
    expires_at: Option<String>,
    /// Says that so wide a network is meant.
    #[serde(default)]
    force: bool,
}

/// Shorter prefixes of networks are blocked only by force: shorter than any that one house has, and a slip of the pen keeps everybody out.
const PREFIX_MIN_V4: u8 = 8;
const PREFIX_MIN_V6: u8 = 19;

fn is_wide(subject: &Subject) -> bool {
    match subject {
        Subject::Network(IpNet::V4(network)) => network.prefix_len() < PREFIX_MIN_V4,
        Subject::Network(IpNet::V6(network)) => network.prefix_len() < PREFIX_MIN_V6,
        Subject::User(_) | Subject::Device(_) => false,
    }
}

const fn word(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Ip => "ip",
        BlockKind::User => "user",
        BlockKind::Device => "device",
    }
}

fn narrowed(wanted: Wanted, call: &Call) -> Result<NewBlock, Error> {
    // As the gate reads it, so that `10.1.2.3/8` is shown as the network that is blocked.
    let subject = Subject::parse(word(wanted.kind), &wanted.value);
    let subject = subject.map_err(|error| Error::invalid("value", error.to_string()))?;
    if is_wide(&subject) && !wanted.force {
        let why = format!(
            "{subject} would keep out a great part of the world; send \"force\": true (--force) where that is meant"
        );
        return Err(Error::invalid("value", why));
    }
    let expires_at = wanted
        .expires_at
        .map(|at| input::moment("expires_at", &at))
        .transpose()?;
    if expires_at.is_some_and(|at| at <= call.now) {
        return Err(Error::invalid("expires_at", "must lie in the future"));
    }
    Ok(NewBlock {
        kind: wanted.kind,
        value: subject.to_string(),
        reason: wanted
            .reason
            .map_or_else(|| Ok(String::new()), |reason| input::sentence("reason", reason))?,
        expires_at,
    })
}

/// Keeps somebody out. Of whoever is kept out already, the block that holds gets this reason and this end.
pub(crate) async fn add(Write { call, body, context }: Write<Wanted>) -> Result<Reply, Error> {
    let block = narrowed(body, &call)?;
    let console = &*call.console;
    let _one_at_a_time = console.blocking.lock().await;
    let mut blocks = console.ledger().blocks(call.now).await?;
    let is_known = |known: &Block| known.block.kind == block.kind && known.block.value == block.value;
    if BLOCKS_MAX <= blocks.len() && !blocks.iter().any(is_known) {
        return Err(Error::conflict(seckill_gate::BlockError::TooMany.to_string()));
    }
    let block = console.ledger().add_block(block, Twice::LaterHolds, context).await?;
    // Of a request that came before, the block may be removed by now.
    if !call.replayed.is_told() {
        blocks.retain(|known| known.id != block.id);
        blocks.push(block.clone());
    }
    put_in_force(console, blocks).await;
    Ok(Reply(
        Answer::fine(&BlockView::from(&block)).status(StatusCode::CREATED),
    ))
}

/// Blocks that hold, by number.
pub(crate) async fn list(call: Call, uri: Uri) -> Result<Reply, Error> {
    let request = PageQuery::of(&uri)?;
    let all = call.console.ledger().blocks(call.now).await?;
    let page = list::cut(all, &request, |block| block.id)?;
    Ok(Reply(list::answer("blocks", &page, |row| BlockView::from(row))))
}

/// Removes one by its number.
pub(crate) async fn remove(RowInPath(id): RowInPath, write: Write<Nothing>) -> Result<Reply, Error> {
    let Write { call, context, .. } = write;
    let console = &*call.console;
    let _one_at_a_time = console.blocking.lock().await;
    let mut blocks = console.ledger().blocks(call.now).await?;
    console.ledger().remove_block(id, context).await?;
    blocks.retain(|block| block.id != id);
    put_in_force(console, blocks).await;
    Ok(Reply(Answer::fine(&json!({"removed": [id]}))))
}

/// Whoever is to be let in again.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    kind: BlockKind,
    value: String,
}

/// Removes every block of one address, network, user or device.
pub(crate) async fn remove_named(Write { call, body, context }: Write<Named>) -> Result<Reply, Error> {
    let subject = Subject::parse(word(body.kind), &body.value);
    let value = subject
        .map_err(|error| Error::invalid("value", error.to_string()))?
        .to_string();
    let console = &*call.console;
    let _one_at_a_time = console.blocking.lock().await;
    let is_named = |block: &Block| block.block.kind == body.kind && block.block.value == value;
    let mut blocks = console.ledger().blocks(call.now).await?;
    let ids: Vec<u64> = blocks
        .extract_if(.., |block| is_named(block))
        .map(|block| block.id)
        .collect();
    if ids.is_empty() {
        return Err(Error::not_found("block"));
    }
    let mut context = context;
    for &id in &ids {
        console.ledger().remove_block(id, context.clone()).await?;
        // One key stands for one removal; a repeated request finds nothing left to remove.
        context.idempotency = None;
    }
    put_in_force(console, blocks).await;
    Ok(Reply(Answer::fine(&json!({"removed": ids}))))
}

/// Reads the list and gives it to the gate, once the ledger has what was asked. Where it can't be read any more, the gate gets `known`:
/// what was read before the change, with the change. The caller holds the lock.
async fn put_in_force(console: &Console, known: Vec<Block>) {
    let blocks = console.ledger().blocks(console.now()).await.unwrap_or_else(|error| {
        tracing::debug!(%error, "the blocks can't be read again; those known before are in force, with the change");
        known
    });
    show_gate(console, blocks);
}

fn show_gate(console: &Console, blocks: Vec<Block>) {
    let in_force = blocks.into_iter().filter_map(|block| {
        let subject = Subject::parse(word(block.block.kind), &block.block.value);
        let subject =
            subject.inspect_err(|error| tracing::error!(id = block.id, %error, "a stored block can't be read"));
        Some(InForce {
            subject: subject.ok()?,
            expires_at: block.block.expires_at,
        })
    });
    if let Err(error) = console.gate.blocks().replace(in_force) {
        tracing::error!(%error, "the blocks could not be put in force; the old ones hold");
    }
}

/// Keeps out whom the gate named, and puts in force what the ledger keeps.
pub(crate) async fn refresh(console: &Console) -> Result<(), Ledger> {
    let _one_at_a_time = console.blocking.lock().await;
    let mut blocks = console.ledger().blocks(console.now()).await?;
    let kept_out = keep_out_offenders(console, &mut blocks).await;
    show_gate(console, blocks);
    kept_out
}
