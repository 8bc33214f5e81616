//! What limits a server under overload, and what it must reach then.

use serde::Serialize;

/// What limits the server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum Bottleneck {
    /// The store: every sync of its journal is held back by so long, beside what the disk takes.
    Store {
        /// In milliseconds.
        held_ms: u32,
    },
    /// A store on a server: every answer of it arrives so much later.
    RemoteStore {
        /// In milliseconds.
        delay_ms: u32,
    },
    /// The processor: nothing is held back.
    Processor,
}

impl Bottleneck {
    /// Offered load over capacity.
    pub(crate) fn factor(self) -> f64 {
        match self {
            Self::Store { .. } | Self::RemoteStore { .. } => 5.0,
            Self::Processor => 1.5,
        }
    }

    /// Connections that find the capacity in a closed loop, but not so many that claims are shed. A slow store is never idle only where
    /// one full batch of each core waits while another one is being written.
    pub(crate) fn closed_connections_max(self) -> usize {
        match self {
            Self::Store { .. } | Self::RemoteStore { .. } => 1_024,
            Self::Processor => 512,
        }
    }

    /// Purchases a second under overload over the best, at least.
    pub(crate) fn goodput_min(self) -> f64 {
        match self {
            Self::Store { .. } | Self::RemoteStore { .. } => 0.8,
            Self::Processor => 0.7,
        }
    }
}
