//! What the store was seen to keep for the ledger, and keeps no more: whether it has lost it.

use seckill_sale::EpochMs;

use super::Kept;
use crate::switches::brakes::Brakes;

impl Kept {
    /// What of these is to be told again, where the store is now seen to keep the others. Whoever gets switches into the ledger leaves a copy of
    /// a later row in their place, and whoever has more kept does so later. Of what others may have got into the ledger, and changed there
    /// since, only what keeps buyers out at this moment is told again.
    pub(in crate::switches) fn lost_by(&self, others: Option<&Self>, now: EpochMs, is_ours: bool) -> Option<Self> {
        if self.is_copy {
            return None;
        }
        let Some(others) = others else {
            return if is_ours {
                Some(self.clone())
            } else {
                self.brakes_against(Brakes::RELEASED, now)
            };
        };
        let is_written = self.base < others.base;
        let is_met = !others.is_copy && self.given_at <= others.given_at;
        if is_written || is_met {
            return None;
        }
        self.brakes_against(Brakes::of(&others.switches.at(now)), now)
    }

    /// What keeps buyers out at this moment, where `there` lets them in; none of what an older version kept, which takes it back where the ledger
    /// refuses it.
    fn brakes_against(&self, there: Brakes, now: EpochMs) -> Option<Self> {
        self.given_at?;
        let brakes = Brakes::of(&self.switches.at(now));
        (brakes.and(there) != there).then(|| Self {
            changed: Some(self.changed().only(&brakes.members())),
            ..self.clone()
        })
    }
}
