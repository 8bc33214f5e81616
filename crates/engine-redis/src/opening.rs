//! Building the state of a sale: begun, filled part by part, and only then of use.

use std::sync::atomic::{AtomicU64, Ordering};

use seckill_sale::{Epoch, NotReady, Restored, TicketState};
use seckill_stock::{OpenOutcome, Opening};

use crate::Error;
use crate::buyer::{restored_record, restored_ticket};
use crate::keys::Place;
use crate::shared::Shared;
use crate::time::Time;

/// Buyers that one step puts back.
pub(crate) const STEP_SIZE_MAX: usize = 500;

impl Shared {
    pub(crate) async fn open(&self, opening: Opening) -> Result<OpenOutcome, Error> {
        if opening.shards.is_split() {
            return self.open_split(&opening).await;
        }
        let opened = &opening.opened;
        let activity = opened.terms.activity;
        let place = Place::whole(activity);
        // Listed first: a sale that is listed and has no state is passed over, one that has a state and is not listed would be lost.
        self.list(activity, opening.shards).await?;
        tracing::debug!(%activity, "a sale is opened");
        let builder = self.builder();
        let step = |name: &str, more: Vec<Vec<u8>>| {
            let mut arguments = vec![name.as_bytes().to_vec(), builder.clone()];
            arguments.extend(more);
            arguments
        };
        let begin = begin_arguments(&opening, opened.left, opened.next_sequence, opening.replaces);
        let call = async |arguments| self.call_open(place, arguments).await?.done();
        let (summary, said) = call(step("begin", begin)).await?;
        if said.first().is_some_and(|said| said == "exists") {
            let epoch = summary.figures.epoch;
            return Ok(OpenOutcome::Exists { epoch });
        }
        for part in opening.buyers.chunks(STEP_SIZE_MAX) {
            let more = part
                .iter()
                .flat_map(|buyer| buyer_arguments(buyer, buyer.sequence))
                .collect();
            call(step("add", more)).await?;
        }
        let (_, said) = call(step("built", Vec::new())).await?;
        match said.first().map(String::as_str) {
            Some("created") => Ok(OpenOutcome::Created),
            _ => Err(Error::NotReady(NotReady::Recovering)),
        }
    }

    /// A word that no other builder has.
    pub(crate) fn builder(&self) -> Vec<u8> {
        static BUILT: AtomicU64 = AtomicU64::new(0);
        let count = BUILT.fetch_add(1, Ordering::Relaxed);
        format!("{}-{}-{count}", self.options.consumer, Time::local()).into_bytes()
    }
}

/// What a shard begins with.
pub(crate) fn begin_arguments(opening: &Opening, left: u64, next_nth: u64, replaces: Option<Epoch>) -> Vec<Vec<u8>> {
    let opened = &opening.opened;
    let mut begin = vec![opened.epoch.to_string().into_bytes()];
    let [status, starts, ends, limit, created] = terms_arguments(&opened.terms);
    begin.extend([status, starts, ends, limit]);
    begin.extend([left, next_nth, opened.applied_movement].map(|number| number.to_string().into_bytes()));
    begin.push(replaces.map_or(Vec::new(), |epoch| epoch.to_string().into_bytes()));
    begin.push(opening.grace_ms.to_string().into_bytes());
    begin.push(created);
    begin
}

/// Status, window, limit, and when the sale was created, as scripts expect them.
pub(crate) fn terms_arguments(terms: &seckill_sale::Terms) -> [Vec<u8>; 5] {
    use seckill_sale::Status;
    let status = match terms.status {
        Status::Draft => "draft",
        Status::Running => "running",
        Status::Paused => "paused",
        Status::Closed => "closed",
    };
    [
        status.to_owned(),
        terms.window.starts_at.to_string(),
        terms.window.ends_at.to_string(),
        terms.per_user_limit.to_string(),
        terms.created_at.map_or_else(String::new, |at| at.to_string()),
    ]
    .map(String::into_bytes)
}

pub(crate) fn buyer_arguments(restored: &Restored, nth: u64) -> [Vec<u8>; 5] {
    let place = match restored.state {
        TicketState::Queued => "q",
        TicketState::Dead => "d",
        TicketState::Succeeded | TicketState::Failed(_) => "-",
    };
    [
        restored.user.as_str().to_owned(),
        restored_record(restored, nth),
        place.to_owned(),
        restored_ticket(restored),
        restored.dead_reason.clone(),
    ]
    .map(String::into_bytes)
}
