//! How a store and a database that belong together, or are new, are tied: by one name that both keep.

use seckill_sale::InstallationId;

use super::{Opened, block_on, random_bytes, refused};
use crate::exit::Failure;
use crate::serve::Patience;
use crate::serve::store::Store;

/// A store that has another name since this start, which may yet be refused.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retied {
    from: InstallationId,
    to: InstallationId,
}

impl Retied {
    /// Gives the store its name back, where nobody gave it another one meanwhile.
    pub(super) fn undo(self, store: &Store, patience: &mut Patience<'_>) {
        if let Err(error) = store.retie(self.to, self.from, patience) {
            tracing::warn!(%error, "the store could not be given its name back");
        }
    }
}

impl Opened {
    /// Ties them, and gives the name.
    ///
    /// # Errors
    /// [`Failure::failed`] where the store belongs to another database.
    pub(super) fn tie(&mut self, patience: &mut Patience<'_>) -> Result<InstallationId, Failure> {
        let database = self.installation.id;
        if self.standing.is_own {
            let id = database.unwrap_or_else(|| InstallationId(random_bytes()));
            let tied = self.store.tie(id, patience)?;
            if database.is_none() {
                block_on(self.ledger.set_installation(tied, 0)).map_err(Failure::failed)?;
            }
            return Ok(tied);
        }
        // Where processes share the store a database never takes over a name from it: another one may have given it that.
        let id = database.map_or_else(|| self.name_database(), Ok)?;
        let tied = match (database, self.standing.id) {
            // Nothing was sold with the one that it belonged to, and nobody uses it: that was looked at before.
            (None, Some(from)) => {
                let tied = self.store.retie(from, id, patience)?;
                self.retied = (tied == id).then_some(Retied { from, to: id });
                tied
            }
            _ => self.store.tie(id, patience)?,
        };
        if tied == id {
            return Ok(id);
        }
        Err(refused(&"the database belongs to another store"))
    }

    /// Gives the database a name; that of another process, where it was faster.
    fn name_database(&self) -> Result<InstallationId, Failure> {
        let id = InstallationId(random_bytes());
        let named = block_on(self.ledger.set_installation(id, 0));
        let present = block_on(self.ledger.installation()).map_err(Failure::unreachable)?;
        match present.id {
            Some(present) => Ok(present),
            None => named.map(|()| id).map_err(Failure::failed),
        }
    }
}
