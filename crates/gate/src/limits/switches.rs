//! Switches of limits.

use serde::Serializer;

use crate::limits::Limits;
use crate::limits::per_limit::PerLimit;
use crate::limits::rate::Limit;

/// Limits in the place of those of the settings; none: the settings hold.
pub type LimitSwitches = PerLimit<Option<Limit>>;

impl LimitSwitches {
    /// The limits in force, where `settings` are those of the settings.
    #[must_use]
    pub fn over(self, settings: Limits) -> Limits {
        let in_force = self
            .zip(settings.buy)
            .map(|(switch, setting)| switch.unwrap_or(setting));
        Limits {
            buy: in_force,
            ..settings
        }
    }

    /// These, with each of `wanted` that is narrower than what is in force by these and `settings`.
    #[must_use]
    pub fn narrowed(self, wanted: Self, settings: Limits) -> Self {
        let (present, other) = (self.over(settings).buy, wanted.over(settings).buy);
        let narrower = |((kept, wanted), (is, would_be)): ((_, _), (Limit, Limit))| {
            if would_be.is_narrower_than(is) { wanted } else { kept }
        };
        self.zip(wanted).zip(present.zip(other)).map(narrower)
    }
}

/// Writes them so that older versions can read them: those want the first three, and know the others only where somebody has set them.
pub(crate) fn write<S: Serializer>(limits: &LimitSwitches, serializer: S) -> Result<S::Ok, S::Error> {
    let is_written =
        |(name, limit): &(&str, Option<Limit>)| limit.is_some() || matches!(*name, "ip" | "user" | "device");
    serializer.collect_map(limits.named().filter(is_written))
}
