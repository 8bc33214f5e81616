//! Whether the processes that share a store belong together: the same database, the same secrets, a name each.
//!
//! With another database a process would write the buyers of one sale into two ledgers: it does not start. Another key of buyers' tokens may
//! be a rotation that is under way: it is told.

use seckill_ledger::Ledger;
use seckill_sale::InstallationId;
use seckill_settings::{Settings, StoreUrl};
use seckill_stock::{Living, Members};

use super::fingerprints;
use super::layers::{Opened, block_on};
use super::node::Node;
use super::roles::ALIVE_MS;
use super::secrets;
use crate::exit::{Failure, Outcome};

/// The role whose processes check buyers' tokens.
const CHECKS_TOKENS: &str = "api";

/// Refuses a process beside living ones whose orders are elsewhere. It is asked before anything is tied together; a new database that
/// others of its house use has its name by the time they say that they live.
///
/// # Errors
/// [`Failure::failed`] beside such a process; a store or database that can't be asked.
pub(super) fn refuse_another_database(settings: &Settings, opened: &Opened) -> Outcome {
    let StoreUrl::Remote(_) = settings.store.url else {
        return Ok(());
    };
    let own = secrets::node_name(&settings.data_dir)?;
    let others = others(&*opened.store.members(), &own)?;
    let id = match opened.installation.id {
        Some(id) => Some(id),
        None => named_meanwhile(&*opened.ledger)?,
    };
    let is_foreign = |other: &&Living| match (id, other.member.fingerprints.database.as_str()) {
        // Whoever lives has a database that is named.
        (None, _) => true,
        (Some(_), "") => false,
        (Some(id), database) => database != fingerprints::of_database(id),
    };
    refuse(others.iter().find(is_foreign))
}

fn named_meanwhile(ledger: &dyn Ledger) -> Result<Option<InstallationId>, Failure> {
    let found = block_on(ledger.installation()).map_err(Failure::unreachable)?;
    Ok(found.id)
}

/// Looks again once this process says that it lives: of two that start at the same moment one sees the other at least. Tells of secrets
/// that differ.
///
/// # Errors
/// As [`refuse_another_database`]; a store that does not answer now is no reason not to start.
pub(super) fn look_around(node: &Node) -> Outcome {
    let (own, members) = (node.membership.own(), node.membership.members());
    let Ok(others) = others(&*members, &own.id) else {
        return Ok(());
    };
    let has = &own.fingerprints;
    let differs = |of: &str, own: &str| !of.is_empty() && !own.is_empty() && of != own;
    refuse(
        others
            .iter()
            .find(|other| differs(&other.member.fingerprints.database, &has.database)),
    )?;
    for other in others.iter().filter(|other| node.roles.api && checks_tokens(other)) {
        let (id, admin, its) = (&other.member.id, &other.member.admin, &other.member.fingerprints);
        if differs(&its.user_keys, &has.user_keys) {
            tracing::error!(
                "the process {id} ({admin}) checks buyers' tokens with another key than this one: unless the key is being changed, buyers \
                 are refused by one of the two (auth)"
            );
        } else if differs(&its.purchase_tokens, &has.purchase_tokens) {
            tracing::error!(
                "the process {id} ({admin}) signs purchase tokens with another secret than this one: each refuses the other's. Give all \
                 processes the same auth.jwt_secret, or the same admin.token"
            );
        }
    }
    Ok(())
}

fn checks_tokens(living: &Living) -> bool {
    living.member.roles.iter().any(|role| role == CHECKS_TOKENS)
}

fn others(members: &dyn Members, own: &str) -> Result<Vec<Living>, Failure> {
    let mut living = block_on(members.members(ALIVE_MS)).map_err(Failure::unreachable)?;
    living.retain(|living| living.member.id != own);
    Ok(living)
}

fn refuse(foreign: Option<&Living>) -> Outcome {
    let Some(foreign) = foreign else {
        return Ok(());
    };
    Err(Failure::failed(format!(
        "the process {} ({}) uses this store with another database: its buyers and this process's would be in two ledgers. Give both the same \
         database (database.url), or this one a store of its own (store.url)",
        foreign.member.id, foreign.member.admin
    )))
}
