//! A change to the switches, read strictly, and what they are after it.

use seckill_sale::{Challenge, EpochMs};
use serde::{Deserialize, Deserializer};

use super::members::{LimitMembers, Members, named, named_limits, object};
use super::{AutoAdmit, Error, Return, Switches};

/// A change: names only what changes. `null` takes an override back; where there is nothing to take back it is an error.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SwitchesPatch {
    /// What changes.
    pub members: Members,
    /// The revision that the change was made for; none: whatever it is.
    pub revision: Option<u64>,
    /// Whether nothing is to be changed: only what would be is asked for.
    pub dry_run: bool,
    /// When what is named goes back, as it was typed. Whoever reads it sets [`SwitchesPatch::until`].
    pub expires_at: Option<String>,
    /// When what is named goes back to what it was; none: it stays.
    pub until: Option<EpochMs>,
}

/// All that may stand in a change. One flat list, since a reader that flattens takes doubled members.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Form {
    #[serde(deserialize_with = "named")]
    entry_open: Option<bool>,
    #[serde(deserialize_with = "named")]
    admit_ratio: Option<f64>,
    #[serde(deserialize_with = "named")]
    read_only: Option<bool>,
    #[serde(deserialize_with = "named")]
    backlog_max: Option<u64>,
    #[serde(deserialize_with = "named")]
    backlog_resume: Option<Option<u64>>,
    #[serde(deserialize_with = "named")]
    backlog_oldest_max_s: Option<u64>,
    #[serde(deserialize_with = "named")]
    auto_admit: Option<AutoAdmit>,
    #[serde(deserialize_with = "named")]
    challenge: Option<Option<Challenge>>,
    #[serde(deserialize_with = "named_limits")]
    limits: LimitMembers,
    #[serde(deserialize_with = "named")]
    revision: Option<u64>,
    dry_run: bool,
    #[serde(deserialize_with = "named")]
    expires_at: Option<String>,
}

impl<'de> Deserialize<'de> for SwitchesPatch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form: Form = object(deserializer)?;
        Ok(Self {
            members: Members {
                entry_open: form.entry_open,
                admit_ratio: form.admit_ratio,
                read_only: form.read_only,
                backlog_max: form.backlog_max,
                backlog_resume: form.backlog_resume,
                backlog_oldest_max_s: form.backlog_oldest_max_s,
                auto_admit: form.auto_admit,
                challenge: form.challenge,
                limits: form.limits,
            },
            revision: form.revision,
            dry_run: form.dry_run,
            expires_at: form.expires_at,
            until: None,
        })
    }
}

impl Switches {
    /// These switches after `patch`, in the next revision. What it names does not go back any more, unless the patch says so itself: then to
    /// where it would have gone back to, so that whoever prolongs a change does not make it the rule.
    ///
    /// # Errors
    /// [`Error`] where a value is out of range.
    pub fn patched(&self, patch: &SwitchesPatch) -> Result<Self, Error> {
        let named = &patch.members;
        let mut next = self.clone();
        named.put_into(&mut next);
        next.revision = self.revision + 1;
        if let Some(Some(resume)) = named.backlog_resume
            && next.backlog_max < resume
        {
            return Err(Error::BacklogResume);
        }
        let home = self.pending().or(&Members::of(self)).only(named);
        next.keep_returns(|members| members.without(named));
        if let Some(at) = patch.until {
            if named.is_empty() {
                return Err(Error::NothingExpires);
            }
            next.returns.push(Return { at, members: home });
            next.returns.sort_by_key(|due| due.at);
        }
        next.check()
    }
}
