//! Recovery after a loss: says what it will do, and does it only where told to.

use seckill_api::Answer;
use seckill_flow::{PlannedStep, Recovered};
use seckill_ledger::written;
use seckill_sale::ActivityId;
use serde::{Deserialize, Serialize};

use crate::audit::text;
use crate::call::InPath;
use crate::error::Error;
use crate::outer::Reply;
use crate::write::Write;

/// Whether it is only said or also done.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    #[serde(default)]
    run: bool,
}

#[derive(Serialize)]
struct Said {
    ran: bool,
    /// What is to be done; nothing where all is well.
    plan: Vec<Step>,
    /// What was done.
    recovered: Vec<Recovered>,
}

#[derive(Serialize)]
struct Step {
    #[serde(flatten)]
    step: PlannedStep,
    /// The step in words.
    says: String,
}

/// One activity.
pub(crate) async fn one(InPath(id): InPath, write: Write<Wanted>) -> Result<Reply, Error> {
    recover(Some(id), write).await
}

/// All activities that need it.
pub(crate) async fn all(write: Write<Wanted>) -> Result<Reply, Error> {
    recover(None, write).await
}

async fn recover(only: Option<ActivityId>, write: Write<Wanted>) -> Result<Reply, Error> {
    let Write { call, body, context } = write;
    let operator = &call.console.operator;
    let plan = operator.recovery_plan(only).await?;
    let mut recovered = Vec::new();
    if body.run {
        recovered = operator.recover(only).await?;
        if !recovered.is_empty() {
            written::note();
        }
        let subject = only.map_or_else(|| "all activities".to_owned(), |id| format!("activity {id}"));
        let (before, after) = (text(&plan), text(&recovered));
        let ledger = call.console.ledger();
        ledger
            .add_audit_row("activity.recover".to_owned(), subject, before, after, context)
            .await?;
    }
    let step = |step: PlannedStep| Step {
        says: step.to_string(),
        step,
    };
    let said = Said {
        ran: body.run,
        plan: plan.into_iter().map(step).collect(),
        recovered,
    };
    Ok(Reply(Answer::fine(&said)))
}
