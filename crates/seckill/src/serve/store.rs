//! The store of the settings: in this process behind a journal, or on Redis beside other processes. Everything else sees its contracts.

mod in_process;
mod on_redis;

use std::pin::Pin;
use std::sync::Arc;

use seckill_queue::Queue;
use seckill_sale::{ActivityId, Figures, InstallationId, UserId};
use seckill_settings::{Settings, StoreUrl};
use seckill_stock::{Members, Stock};

use super::Patience;
use crate::exit::Failure;
pub(crate) use in_process::{InProcess, JOURNAL_FOLDER};
pub(crate) use on_redis::OnRedis;

/// A store that is open.
pub(crate) enum Store {
    /// Stock and queue in this process.
    InProcess(Box<InProcess>),
    /// Stock and queue on a server.
    OnRedis(OnRedis),
}

/// What a store says of itself, before it is known whether it and the database belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The installation that it belongs to; none where it is new.
    pub(crate) id: Option<InstallationId>,
    /// The newest settlement batch that was acknowledged.
    pub(crate) acknowledged: u64,
    /// Whether it knows no sale.
    pub(crate) is_empty: bool,
    /// Whether it keeps everything itself, so that missing knowledge is damage. Otherwise what it lost is rebuilt from the ledger.
    pub(crate) is_own: bool,
    /// Whether it did not exist before this start.
    pub(crate) is_created: bool,
}

/// Opens the store. `id` is the database's installation.
///
/// # Errors
/// It can't be used, or could not for as long as is waited.
pub(super) fn open(
    settings: &Settings,
    id: Option<InstallationId>,
    patience: &mut Patience<'_>,
) -> Result<Store, Failure> {
    match &settings.store.url {
        StoreUrl::Embedded => InProcess::open(settings, id).map(|store| Store::InProcess(Box::new(store))),
        StoreUrl::Remote(url) => OnRedis::open(settings, url, patience).map(Store::OnRedis),
    }
}

/// Whether this build can use the store of the settings.
///
/// # Errors
/// [`Failure::usage`].
pub(crate) fn check(settings: &Settings) -> Result<(), Failure> {
    match &settings.store.url {
        StoreUrl::Embedded => Ok(()),
        StoreUrl::Remote(url) => OnRedis::check_address(url),
    }
}

impl Store {
    /// What it says of itself.
    pub(super) fn standing(&self, patience: &mut Patience<'_>) -> Result<Standing, Failure> {
        match self {
            Self::InProcess(store) => Ok(store.standing()),
            Self::OnRedis(store) => store.standing(patience),
        }
    }

    /// Ties a store that belongs to no installation to this one, and gives the one that it belongs to.
    pub(crate) fn tie(&self, id: InstallationId, patience: &mut Patience<'_>) -> Result<InstallationId, Failure> {
        match self {
            Self::InProcess(store) => Ok(store.engine().installation()),
            Self::OnRedis(store) => store.tie(id, patience),
        }
    }

    /// Ties a shared store that knows no sale to another installation where it still belongs to `from`, and gives the one that it belongs to.
    pub(super) fn retie(
        &self,
        from: InstallationId,
        to: InstallationId,
        patience: &mut Patience<'_>,
    ) -> Result<InstallationId, Failure> {
        match self {
            Self::InProcess(_) => self.tie(to, patience),
            Self::OnRedis(store) => store.retie(from, to, patience),
        }
    }

    /// Puts it to work, where it does not yet.
    pub(crate) fn run(&mut self) -> Result<(), Failure> {
        match self {
            Self::InProcess(store) => store.run(),
            Self::OnRedis(_) => Ok(()),
        }
    }

    /// As a stock.
    pub(crate) fn stock(&self) -> Arc<dyn Stock> {
        match self {
            Self::InProcess(store) => Arc::new(store.engine().clone()),
            Self::OnRedis(store) => Arc::new(store.engine().clone()),
        }
    }

    /// As a queue.
    pub(crate) fn queue(&self) -> Arc<dyn Queue> {
        match self {
            Self::InProcess(store) => Arc::new(store.engine().clone()),
            Self::OnRedis(store) => Arc::new(store.engine().clone()),
        }
    }

    /// As what its processes know of one another.
    pub(crate) fn members(&self) -> Arc<dyn Members> {
        match self {
            Self::InProcess(store) => Arc::new(store.engine().clone()),
            Self::OnRedis(store) => Arc::new(store.engine().clone()),
        }
    }

    /// Whether it can't be used now.
    pub(crate) fn is_down(&self) -> bool {
        match self {
            Self::InProcess(store) => store.engine().is_broken() || store.engine().hangs(),
            Self::OnRedis(store) => !store.engine().is_up(),
        }
    }

    /// Servers that it is spread over, each with whether it can be asked; none where it is in this process.
    pub(crate) fn servers(&self) -> Vec<(String, bool)> {
        match self {
            Self::InProcess(_) => Vec::new(),
            Self::OnRedis(store) => store.engine().servers(),
        }
    }

    /// Whether it can be asked of this sale.
    pub(crate) fn can_ask_of(&self, activity: ActivityId) -> bool {
        match self {
            Self::InProcess(_) => !self.is_down(),
            Self::OnRedis(store) => store.engine().can_ask_of(activity),
        }
    }

    /// Returns when the process must end because of it; a server that comes back is no such reason.
    pub(crate) fn broke(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        match self {
            Self::InProcess(store) => {
                let engine = store.engine().clone();
                Box::pin(async move { engine.broke().await })
            }
            Self::OnRedis(_) => Box::pin(std::future::pending()),
        }
    }

    /// Removes a buyer's entry by hand, as a drill. Says whether he was there.
    pub(crate) async fn erase_buyer(&self, activity: ActivityId, user: UserId) -> Result<bool, seckill_stock::Error> {
        match self {
            Self::InProcess(store) => store.engine().erase_buyer(activity, user).await.map_err(Into::into),
            Self::OnRedis(store) => store.engine().erase_buyer(activity, user).await,
        }
    }

    /// The figures of a sale that other processes change, as last read; none where all changes are made here, or the sale has no state.
    pub(crate) fn shared_figures(&self, activity: ActivityId) -> Option<Figures> {
        match self {
            Self::InProcess(_) => None,
            Self::OnRedis(store) => store.engine().last_figures(activity),
        }
    }
}
