//! What a process does of all that there is to do.

use seckill_settings::{DatabaseUrl, Settings, StoreUrl};

use super::layers::{Opened, block_on};
use super::secrets;
use crate::cli::Role;
use crate::exit::Failure;

/// The roles of a process. Whatever they are, its admin port answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Roles {
    /// Answers buyers, on the public port.
    pub(crate) api: bool,
    /// Writes orders.
    pub(crate) worker: bool,
    /// Preheats, expires, closes.
    pub(crate) scheduler: bool,
}

/// Who was heard of within this time counts as running, in milliseconds; processes beat every second.
pub(crate) const ALIVE_MS: i64 = 5_000;

const EMBEDDED_ROLES: &str = "the embedded store lives in the serving process, so that process has all roles; \
    roles of their own need a store that processes share (store.url)";

const SQLITE_ROLES: &str = "orders are in a file of this process alone (database.url is SQLite's); \
    roles of their own need a database server that all processes of the store have in database.url";

impl Roles {
    /// All of them.
    pub(crate) const ALL: Self = Self {
        api: true,
        worker: true,
        scheduler: true,
    };

    /// The named ones; all where none is named.
    ///
    /// # Errors
    /// [`Failure::usage`]: the store can't be shared with processes that have the others.
    pub(crate) fn new(named: &[Role], settings: &Settings) -> Result<Self, Failure> {
        let has = |role| named.is_empty() || named.contains(&role);
        let roles = Self {
            api: has(Role::Api),
            worker: has(Role::Worker),
            scheduler: has(Role::Scheduler),
        };
        if roles != Self::ALL && matches!(settings.store.url, StoreUrl::Embedded) {
            return Err(Failure::usage(EMBEDDED_ROLES));
        }
        if roles != Self::ALL && matches!(settings.database.url, DatabaseUrl::Sqlite(_)) {
            return Err(Failure::usage(SQLITE_ROLES));
        }
        Ok(roles)
    }

    /// Their names.
    pub(crate) fn names(self) -> Vec<String> {
        let named = [
            (self.api, "api"),
            (self.worker, "worker"),
            (self.scheduler, "scheduler"),
        ];
        named
            .iter()
            .filter(|(has, _)| *has)
            .map(|(_, name)| (*name).to_owned())
            .collect()
    }
}

/// A process whose orders are in its own file must be the only one of its store: the others would not know its sales, nor write its orders.
///
/// # Errors
/// [`Failure::failed`] beside another process; a store that can't be asked.
pub(super) fn refuse_own_orders_beside_others(settings: &Settings, opened: &Opened) -> Result<(), Failure> {
    let (StoreUrl::Remote(_), DatabaseUrl::Sqlite(_)) = (&settings.store.url, &settings.database.url) else {
        return Ok(());
    };
    let own = secrets::node_name(&settings.data_dir)?;
    let living = block_on(opened.store.members().members(ALIVE_MS)).map_err(Failure::unreachable)?;
    let Some(other) = living.iter().find(|living| living.member.id != own) else {
        return Ok(());
    };
    Err(Failure::failed(format!(
        "the process {} ({}) uses this store, too, and orders would be in a file of this process alone: processes that share a store need a \
         database server, the same for all (database.url)",
        other.member.id, other.member.admin
    )))
}
