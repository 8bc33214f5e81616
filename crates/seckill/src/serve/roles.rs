//! What a process does of all that there is to do.

use seckill_settings::{Settings, StoreUrl};

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

const EMBEDDED_ROLES: &str = "the embedded store lives in the serving process, so that process has all roles; \
    roles of their own need a store that processes share (store.url)";

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
