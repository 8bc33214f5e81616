//! An activity that was made just as it was asked for, and what whoever asked may not have meant by it.

use seckill_api::rfc3339;
use seckill_sale::{Activity, EpochMs};
use serde::Serialize;

use crate::activities::view;
use crate::call::Call;
use crate::views::ActivityView;

/// The answer to its making.
#[derive(Serialize)]
pub(crate) struct Made {
    #[serde(flatten)]
    activity: ActivityView,
    warnings: Vec<String>,
}

impl Made {
    /// What was made just now.
    pub(crate) fn new(call: &Call, activity: &Activity) -> Self {
        Self {
            activity: view(call, activity),
            warnings: warnings(activity, call.now),
        }
    }
}

fn warnings(activity: &Activity, now: EpochMs) -> Vec<String> {
    let ends_at = activity.window.ends_at;
    let is_over = ends_at <= now;
    let over = is_over.then(|| format!("the sale was over before it was made: it ended at {}", rfc3339(ends_at)));
    over.into_iter().collect()
}
