//! The switches that are measured: whom each hits, and what he hears then.

use serde::Serialize;

use super::heard::{Said, Scope, Who};

/// Something that the operator turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// The whole entrance.
    Entrance,
    /// Nothing is changed for anybody.
    ReadOnly,
    /// One sale.
    Pause,
    /// The share that is let in: none.
    AdmitRatio,
    /// A purchase token, which nobody has.
    Challenge,
    /// Requests of one address.
    LimitIp,
    /// Requests of one network.
    LimitNetwork,
    /// Attempts of one user in a sale.
    LimitUser,
    /// Attempts of one device.
    LimitDevice,
    /// Purchases of everybody in a sale, at a node.
    LimitActivity,
    /// Purchases of everybody at a node.
    LimitNode,
    /// One user is kept out.
    BlockUser,
    /// One address is.
    BlockIp,
    /// One device is.
    BlockDevice,
    /// Tickets that may wait for their order, while more of them do.
    Backlog,
}

impl Switch {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Entrance,
        Self::ReadOnly,
        Self::Pause,
        Self::AdmitRatio,
        Self::Challenge,
        Self::LimitIp,
        Self::LimitNetwork,
        Self::LimitUser,
        Self::LimitDevice,
        Self::LimitActivity,
        Self::LimitNode,
        Self::BlockUser,
        Self::BlockIp,
        Self::BlockDevice,
        Self::Backlog,
    ];

    /// What operators call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Entrance => "entry_open",
            Self::ReadOnly => "read_only",
            Self::Pause => "pause",
            Self::AdmitRatio => "admit_ratio",
            Self::Challenge => "challenge",
            Self::LimitIp => "limits.ip",
            Self::LimitNetwork => "limits.network",
            Self::LimitUser => "limits.user",
            Self::LimitDevice => "limits.device",
            Self::LimitActivity => "limits.activity",
            Self::LimitNode => "limits.node",
            Self::BlockUser => "block user",
            Self::BlockIp => "block ip",
            Self::BlockDevice => "block device",
            Self::Backlog => "backlog_max",
        }
    }

    /// What those hear whom it hits.
    pub(super) const fn says(self) -> Said {
        let (code, scope) = match self {
            Self::Entrance | Self::ReadOnly | Self::Pause => (40_006, None),
            Self::AdmitRatio => (50_300, None),
            Self::Challenge => (40_301, None),
            Self::LimitIp | Self::LimitNetwork => (40_003, Some(Scope::Ip)),
            Self::LimitUser => (40_003, Some(Scope::User)),
            Self::LimitDevice => (40_003, Some(Scope::Device)),
            Self::LimitActivity => (40_003, Some(Scope::Activity)),
            Self::LimitNode => (40_003, Some(Scope::Node)),
            Self::BlockUser | Self::BlockIp | Self::BlockDevice => (40_300, None),
            Self::Backlog => (50_301, None),
        };
        Said { code, scope }
    }

    /// Who shows whether it is on.
    pub(super) const fn shown_by(self) -> Who {
        match self {
            Self::LimitIp
            | Self::LimitNetwork
            | Self::LimitUser
            | Self::LimitDevice
            | Self::BlockUser
            | Self::BlockIp
            | Self::BlockDevice => Who::Marked,
            _ => Who::New,
        }
    }

    /// Whether it hits the others, too: those of another sale who have a ticket.
    pub(super) const fn hits_all(self) -> bool {
        matches!(
            self,
            Self::Entrance | Self::ReadOnly | Self::AdmitRatio | Self::LimitActivity | Self::LimitNode
        )
    }

    /// Requests that it lets through at a node when it is turned on: the burst of a limit.
    pub(super) const fn lets_through(self) -> usize {
        match self.says().scope {
            Some(_) => 1,
            None => 0,
        }
    }

    /// Whether a node follows at its next look at the backlog, also the one that was told: ten times a second.
    pub(super) const fn is_looked_at(self) -> bool {
        matches!(self, Self::Backlog)
    }
}
