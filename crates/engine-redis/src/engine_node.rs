//! What a process asks of its own handle: whether the server answers, what it last said of a sale, and whose installation it serves.

use redis::{ErrorKind, cmd};
use seckill_sale::{ActivityId, Figures, InstallationId, Shards};

use crate::keys::Place;
use crate::script::RETIE;
use crate::{ConnectError, Engine, Error, keys, link};

/// Whether an address is one that [`Engine::connect`] understands.
///
/// # Errors
/// What is wrong with it.
pub fn check_address(address: &str) -> Result<(), ConnectError> {
    link::check(address).map_err(ConnectError::Redis)
}

impl ConnectError {
    /// Whether the server may come up, or get ready, while somebody waits.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Redis(error) => {
                error.is_io_error()
                    || error.is_timeout()
                    || matches!(error.code(), Some("LOADING" | "BUSY" | "MASTERDOWN" | "CLUSTERDOWN"))
                    // Nobody says who leads; or who does is not sure of it yet.
                    || matches!(
                        error.kind(),
                        ErrorKind::ClusterConnectionNotFound | ErrorKind::UnexpectedReturnType
                    )
            }
            Self::Login(_) | Self::Unsafe(_) => false,
        }
    }
}

impl Engine {
    /// Whether the store had no sale when it was last read. Costs no IO.
    #[must_use]
    pub fn knows_no_sale(&self) -> bool {
        self.0.over_shards(true, |_, _, _| false)
    }

    /// Whether any server can be asked, as far as is known: a cluster of which one is gone goes on selling what the others have, and a
    /// process that called itself down for that would take those sales with it. Costs no IO.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.0.link.check().is_ok()
    }

    /// Every server that leads, and whether it can be asked, as far as is known. Costs no IO.
    #[must_use]
    pub fn servers(&self) -> Vec<(String, bool)> {
        let servers = self.0.link.leaders();
        servers
            .iter()
            .map(|server| (server.spot.to_string(), server.is_up()))
            .collect()
    }

    /// Whether every server that has a part of this sale can be asked, as far as is known. Costs no IO.
    #[must_use]
    pub fn can_ask_of(&self, activity: ActivityId) -> bool {
        let shards = self.0.shards_known(activity).unwrap_or(Shards::ONE);
        let mut places = Place::all(activity, shards);
        places.all(|place| self.0.link.is_up(&place.buyers()))
    }

    /// The figures of a sale as last read; none where it has no state. Costs no IO.
    #[must_use]
    pub fn last_figures(&self, activity: ActivityId) -> Option<Figures> {
        self.0.with_sale(activity, |sale| sale.and_then(|sale| sale.figures()))
    }

    /// The installation that the server belongs to; none where it is new, or was emptied.
    ///
    /// # Errors
    /// The server did not answer, or what it keeps is no id.
    pub async fn installation(&self) -> Result<Option<InstallationId>, Error> {
        let kept: Option<String> = self.0.link.command(cmd("GET").arg(keys::INSTALLATION)).await?;
        kept.map(|kept| kept.parse().map_err(|_| Error::OutcomeUnknown))
            .transpose()
    }

    /// Ties the server to an installation where it belongs to none, and gives the one that it belongs to.
    ///
    /// # Errors
    /// As [`Engine::installation`].
    pub async fn tie(&self, id: InstallationId) -> Result<InstallationId, Error> {
        let mut command = cmd("SET");
        command.arg(keys::INSTALLATION).arg(id.to_string()).arg("NX");
        let _set: Option<String> = self.0.link.command(&command).await?;
        Ok(self.installation().await?.unwrap_or(id))
    }

    /// Ties the server to another installation where it still belongs to `from`, and gives the one that it belongs to afterwards. For a
    /// store that never knew a sale and that nobody else uses.
    ///
    /// # Errors
    /// As [`Engine::installation`].
    pub async fn retie(&self, from: InstallationId, to: InstallationId) -> Result<InstallationId, Error> {
        let keys = [keys::INSTALLATION.to_owned()];
        let arguments = [from, to].map(|id| id.to_string().into_bytes());
        let answer = self.0.link.script(&RETIE, &keys, &arguments).await?;
        let name: Option<String> = redis::from_redis_value(answer).map_err(|_not_ours| Error::OutcomeUnknown)?;
        match name {
            Some(name) => name.parse().map_err(|_not_ours| Error::OutcomeUnknown),
            // It was emptied meanwhile.
            None => self.tie(to).await,
        }
    }
}
