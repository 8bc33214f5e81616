//! The checklist before a sale: what would spoil it, said while there is time. It reads and changes nothing.

use std::sync::Arc;

use seckill_api::Answer;
use serde::Serialize;

use crate::call::{Call, InPath};
use crate::checklist;
use crate::error::Error;
use crate::outer::Reply;

/// What a check comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// As it should be.
    Passed,
    /// A sale would run; somebody should know.
    Warning,
    /// A sale would not run, or not as it should.
    Failed,
}

/// One line of the checklist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub area: &'static str,
    /// What it comes to.
    pub state: CheckState,
    /// What was found, and where it is not as it should be, what to do.
    pub said: String,
}

impl Check {
    /// As it should be.
    pub fn passed(area: &'static str, said: impl Into<String>) -> Self {
        Self::of(area, CheckState::Passed, said)
    }

    /// A sale would run; somebody should know.
    pub fn warning(area: &'static str, said: impl Into<String>) -> Self {
        Self::of(area, CheckState::Warning, said)
    }

    /// A sale would not run, or not as it should.
    pub fn failed(area: &'static str, said: impl Into<String>) -> Self {
        Self::of(area, CheckState::Failed, said)
    }

    fn of(area: &'static str, state: CheckState, said: impl Into<String>) -> Self {
        Self {
            area,
            state,
            said: said.into(),
        }
    }
}

/// What the process knows of itself and its machine: descriptors, disk, settings.
pub type HouseChecks = Arc<dyn Fn() -> Vec<Check> + Send + Sync>;

#[derive(Serialize)]
struct Checked<'a> {
    /// Whether nothing failed.
    passed: bool,
    checks: &'a [Check],
}

fn reply(checks: &[Check]) -> Reply {
    Reply(Answer::fine(&Checked {
        passed: checks.iter().all(|check| check.state != CheckState::Failed),
        checks,
    }))
}

/// The node and what it stands on.
pub(crate) async fn node(call: Call) -> Result<Reply, Error> {
    Ok(reply(&checklist::node(&call, None).await))
}

/// The same, and one activity.
pub(crate) async fn activity(call: Call, InPath(id): InPath) -> Result<Reply, Error> {
    let activity = match call.console.ledger().activity(id).await {
        Err(error @ seckill_ledger::Error::NotFound(_)) => return Err(error.into()),
        activity => activity,
    };
    let mut checks = checklist::node(&call, Some(id)).await;
    match activity {
        Ok(activity) => checks.extend(checklist::activity(&call, &activity).await),
        // Whoever asks now needs the other lines most.
        Err(error) => checks.push(Check::failed("sale", format!("can't be read: {error}"))),
    }
    Ok(reply(&checks))
}
