//! Switches of limits.

use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::limits::rate::Limit;

/// Limits in the place of those of the settings; none: the settings hold. What nobody has set is not written where an older version would not
/// know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSwitches {
    /// Per address.
    #[serde(default)]
    pub ip: Option<Limit>,
    /// Per network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Limit>,
    /// Per user and activity.
    #[serde(default)]
    pub user: Option<Limit>,
    /// Per device.
    #[serde(default)]
    pub device: Option<Limit>,
    /// All buyers of an activity, on a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<Limit>,
    /// All buyers of a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Limit>,
}

impl LimitSwitches {
    /// The limits in force, where `settings` are those of the settings.
    #[must_use]
    pub fn over(&self, settings: Limits) -> Limits {
        Limits {
            ip: self.ip.unwrap_or(settings.ip),
            network: self.network.unwrap_or(settings.network),
            user: self.user.unwrap_or(settings.user),
            device: self.device.unwrap_or(settings.device),
            read: settings.read,
            activity: self.activity.unwrap_or(settings.activity),
            node: self.node.unwrap_or(settings.node),
        }
    }

    /// These, with each of `wanted` that is narrower than what is in force by these and `settings`.
    #[must_use]
    pub fn narrowed(&self, wanted: &Self, settings: Limits) -> Self {
        let (present, other) = (self.over(settings), wanted.over(settings));
        let narrower =
            |is: Limit, would_be: Limit, kept, wanted| if would_be.is_narrower_than(is) { wanted } else { kept };
        Self {
            ip: narrower(present.ip, other.ip, self.ip, wanted.ip),
            network: narrower(present.network, other.network, self.network, wanted.network),
            user: narrower(present.user, other.user, self.user, wanted.user),
            device: narrower(present.device, other.device, self.device, wanted.device),
            activity: narrower(present.activity, other.activity, self.activity, wanted.activity),
            node: narrower(present.node, other.node, self.node, wanted.node),
        }
    }
}
