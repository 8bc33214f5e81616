//! What an operator turns during the night of a sale: the entrance, the share that is let in, limits. A value with a revision, and what it
//! says at a given moment: a switch may go back by itself. Keeping it over restarts and bringing it to other nodes is somebody else's work.

mod auto_admit;
mod automatic;
mod members;
mod patch;
mod returning;
#[cfg(test)]
mod returning_tests;
mod sieve;
#[cfg(test)]
mod tests;

use seckill_sale::{Activity, Challenge, Refusal};
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::limits::switches::LimitSwitches;
use crate::window::{Moment, check_status};

pub use auto_admit::AutoAdmit;
pub(crate) use automatic::Automatic;
pub use members::Members;
pub use patch::SwitchesPatch;
pub use returning::Return;
pub use sieve::Sieve;

/// Largest backlog that can be asked for: ten million tickets are about a gigabyte of queue.
const BACKLOG_MAX_MAX: u64 = 10_000_000;
/// Longest wait of the oldest ticket that can be asked for, in seconds: a day.
const OLDEST_MAX_MAX_S: u64 = 86_400;
/// How long the oldest ticket may wait where nobody has said otherwise, in seconds.
const OLDEST_MAX_DEFAULT_S: u64 = 300;
/// Returns that may be pending: each member has one at most, and there are fewer members.
const RETURNS_MAX: usize = 16;

/// All switches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switches {
    /// Whether purchases are let in at all.
    pub entry_open: bool,
    /// Share of purchases that is let in, from 0 to 1; the others hear that it is too busy.
    pub admit_ratio: f64,
    /// Whether everything that would change something is refused.
    pub read_only: bool,
    /// Accepted purchases that may wait for their order, in tickets.
    pub backlog_max: u64,
    /// Tickets below which admissions begin again after there were too many; none: see [`Switches::backlog_resume`].
    // Not written while nobody has set it, as the members below: a process of an older version can read such switches.
    #[serde(rename = "backlog_resume", default, skip_serializing_if = "Option::is_none")]
    pub backlog_resume_at: Option<u64>,
    /// How long the oldest ticket may wait before nobody is admitted any more, in seconds; 0: for ever.
    #[serde(default = "oldest_max_default", skip_serializing_if = "is_oldest_max_default")]
    pub backlog_oldest_max_s: u64,
    /// Whether a slow store lowers the share that is let in.
    #[serde(default, skip_serializing_if = "AutoAdmit::is_default")]
    pub auto_admit: AutoAdmit,
    /// What every buyer must solve, whatever his activity says; none: as the activity says.
    pub challenge: Option<Challenge>,
    /// Limits in the place of those of the settings.
    #[serde(serialize_with = "limits::switches::write")]
    pub limits: LimitSwitches,
    /// What goes back by itself, the next one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returns: Vec<Return>,
    /// Counts every change; the larger one is the later one.
    #[serde(default)]
    pub revision: u64,
}

const fn oldest_max_default() -> u64 {
    OLDEST_MAX_DEFAULT_S
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
const fn is_oldest_max_default(seconds: &u64) -> bool {
    *seconds == OLDEST_MAX_DEFAULT_S
}

/// Why a change is not taken. Each text begins with the member that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The ratio is out of range.
    #[error("admit_ratio must be from 0 to 1")]
    AdmitRatio,
    /// The backlog is out of range.
    #[error("backlog_max must be from 1 to {BACKLOG_MAX_MAX}")]
    BacklogMax,
    /// The number of tickets at which admissions begin again is out of range.
    #[error("backlog_resume must be from 1 to backlog_max")]
    BacklogResume,
    /// The wait of the oldest ticket is out of range.
    #[error("backlog_oldest_max_s must be from 0 to {OLDEST_MAX_MAX_S}")]
    BacklogOldest,
    /// The automatic share is out of range.
    #[error("auto_admit must have store_p99_ms from 1 to 60000 and step from 0.01 to 1")]
    AutoAdmit,
    /// Nothing is named that could go back.
    #[error("expires_at needs a switch that goes back then")]
    NothingExpires,
    /// More goes back than there are members.
    #[error("returns are more than {RETURNS_MAX}")]
    Returns,
}

impl Switches {
    /// Everything open, with this backlog.
    #[must_use]
    pub fn open(backlog_max: u64) -> Self {
        Self {
            entry_open: true,
            admit_ratio: 1.0,
            read_only: false,
            backlog_max,
            backlog_resume_at: None,
            backlog_oldest_max_s: OLDEST_MAX_DEFAULT_S,
            auto_admit: AutoAdmit::default(),
            challenge: None,
            limits: LimitSwitches::default(),
            returns: Vec::new(),
            revision: 0,
        }
    }

    /// These switches, if they are in range: for those that were kept or came from another node.
    ///
    /// # Errors
    /// [`Error`].
    pub fn check(mut self) -> Result<Self, Error> {
        if !(0.0..=1.0).contains(&self.admit_ratio) {
            return Err(Error::AdmitRatio);
        }
        if !(1..=BACKLOG_MAX_MAX).contains(&self.backlog_max) {
            return Err(Error::BacklogMax);
        }
        if !(1..=BACKLOG_MAX_MAX).contains(&self.backlog_resume_at.unwrap_or(1)) {
            return Err(Error::BacklogResume);
        }
        if OLDEST_MAX_MAX_S < self.backlog_oldest_max_s {
            return Err(Error::BacklogOldest);
        }
        self.auto_admit.check()?;
        if RETURNS_MAX < self.returns.len() {
            return Err(Error::Returns);
        }
        self.returns.sort_by_key(|due| due.at);
        Ok(self)
    }

    /// Tickets below which admissions begin again: as set, else 80 % of the most that may wait; never more than may wait.
    #[must_use]
    pub fn backlog_resume(&self) -> u64 {
        let default = (self.backlog_max.saturating_mul(4) / 5).max(1);
        self.backlog_resume_at.unwrap_or(default).min(self.backlog_max)
    }

    /// What a buyer of `activity` must solve first.
    #[must_use]
    pub fn challenge_of(&self, activity: &Activity) -> Challenge {
        self.challenge.unwrap_or(activity.challenge)
    }

    /// Whether the entrance is open and the sale is not held.
    ///
    /// # Errors
    /// [`Refusal::Paused`].
    pub fn check_open(&self, activity: &Activity, moment: Moment) -> Result<(), Refusal> {
        check_status(activity, moment)?;
        if self.is_open() {
            Ok(())
        } else {
            Err(Refusal::Paused { resumes_at: None })
        }
    }

    /// Whether purchases are let in, as far as the switches say.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.entry_open && !self.read_only
    }
}
