//! What is measured: one process with a store of its own, or several on services that run already.

use std::path::Path;

use crate::Result;
use crate::fleet::{Fleet, FleetConfig};
use crate::process::Usage;
use crate::server::{Server, ServerConfig};
use crate::target::Target;

/// What to start.
#[derive(Debug, Clone)]
pub enum SubjectConfig {
    /// One process, with store and database of its own.
    Alone(ServerConfig),
    /// Processes on one store and one database.
    Fleet(FleetConfig),
}

impl SubjectConfig {
    /// The `seckill` program.
    pub(crate) fn executable(&self) -> &Path {
        match self {
            Self::Alone(config) => &config.executable,
            Self::Fleet(config) => &config.executable,
        }
    }

    /// Settings beside those that it has, as environment variables.
    #[must_use]
    pub fn with(mut self, settings: impl IntoIterator<Item = (String, String)>) -> Self {
        let environment = match &mut self {
            Self::Alone(config) => &mut config.environment,
            Self::Fleet(config) => &mut config.environment,
        };
        environment.extend(settings);
        self
    }
}

/// It runs. Dropping it ends it.
#[derive(Debug)]
pub(crate) enum Subject {
    Alone(Server),
    Fleet(Fleet),
}

impl Subject {
    /// Starts it and waits until it is ready.
    pub(crate) fn start(config: &SubjectConfig) -> Result<Self> {
        match config {
            SubjectConfig::Alone(config) => Server::start(config).map(Self::Alone),
            SubjectConfig::Fleet(config) => Fleet::start(config).map(Self::Fleet),
        }
    }

    /// How to speak with it.
    pub(crate) fn target(&self) -> &Target {
        match self {
            Self::Alone(server) => server.target(),
            Self::Fleet(fleet) => fleet.target(),
        }
    }

    /// CPU time and memory of its processes so far.
    pub(crate) fn usage(&self) -> Result<Usage> {
        match self {
            Self::Alone(server) => server.usage(),
            Self::Fleet(fleet) => fleet.usage(),
        }
    }

    /// A sale of `units` that is open and known wherever buyers come to; the activity's id.
    pub(crate) fn open_sale(&self, title: &str, units: u64) -> Result<u64> {
        let activity_id = self.target().admin.open_sale(title, units)?;
        if let Self::Fleet(fleet) = self {
            fleet.wait_known(activity_id)?;
        }
        Ok(activity_id)
    }

    /// Ends it in an orderly way.
    pub(crate) fn stop(self) -> Result<()> {
        match self {
            Self::Alone(server) => server.stop(),
            Self::Fleet(fleet) => fleet.stop(),
        }
    }
}
