//! One tick: everything that is due at a moment, part by part.

use seckill_sale::{Activity, ActivityId, EpochMs, Status, Terms};

use super::{Part, SYNC_AGAIN_MS, Scheduler, Ticked, rounds};
use crate::{Error, Operator};

impl Scheduler {
    /// Does everything that is due at `now`.
    pub async fn tick(&mut self, now: EpochMs) -> Ticked {
        let mut ticked = Ticked {
            next_at: now.plus(self.settings.tick_ms_max),
            ..Ticked::default()
        };
        self.make_rounds(now, &mut ticked).await;
        self.sweep(now, &mut ticked).await;
        let Some(activities) = ticked.note(Part::Catalogue, None, self.operator.refresh_catalogue().await) else {
            return ticked;
        };
        for activity in &activities {
            self.follow(activity, now, &mut ticked).await;
        }
        if self
            .repaired_at
            .is_none_or(|at| at.plus(self.settings.repair_every_ms) <= now || now < at)
        {
            self.repaired_at = Some(now);
            self.repair(activities, now, &mut ticked).await;
        }
        ticked
    }

    async fn make_rounds(&mut self, now: EpochMs, ticked: &mut Ticked) {
        let operator = self.operator.clone();
        let Some(rounds) = ticked.note(Part::Rounds, None, rounds::make(&operator, now).await) else {
            return;
        };
        ticked.rounds_made = rounds.made;
        if let Some(at) = rounds.next_at {
            ticked.next_at = ticked.next_at.min(at.max(now));
        }
        for reason in rounds.failures {
            ticked.failed(Part::Rounds, None, &reason);
        }
    }

    async fn sweep(&self, now: EpochMs, ticked: &mut Ticked) {
        if let Some(swept) = ticked.note(Part::Expiry, None, self.operator.sweep(now).await) {
            ticked.orders_expired = swept.orders;
            if swept.more {
                ticked.next_at = now;
            }
        }
        let deadline = self.operator.layers.ledger.next_deadline().await.map_err(Error::from);
        if let Some(deadline) = ticked.note(Part::Expiry, None, deadline).flatten() {
            ticked.wanted_at(now, deadline);
        }
    }

    /// What one sale needs by its dates.
    async fn follow(&mut self, activity: &Activity, now: EpochMs, ticked: &mut Ticked) {
        let id = activity.id;
        let is_absent = self.heal(activity, ticked).await;
        if self.write_hold(id, ticked).await {
            self.sync(activity, ticked).await;
            self.resume(activity, now, ticked).await;
        }
        let close_at = activity.window.ends_at.plus(self.settings.close_after_end_ms);
        if activity.status != Status::Closed && close_at <= now {
            self.close(id, now, ticked).await;
            return;
        }
        ticked.wanted_at(now, close_at);
        let preheat_at = activity.window.starts_at.plus(-self.settings.preheat_before_ms);
        ticked.wanted_at(now, preheat_at);
        let wants_state = matches!(activity.status, Status::Running | Status::Paused)
            && preheat_at <= now
            && now < activity.window.ends_at;
        if wants_state && is_absent {
            let preheated = self.operator.preheat(id, self.operator.own_context()).await;
            if ticked
                .note(Part::Preheat, Some(id), preheated)
                .is_some_and(|preheated| preheated.created)
            {
                ticked.preheated.push(id);
            }
        }
    }

    /// Writes a pause that the ledger may not have yet; false where ledger or store still has not: nothing may be resumed then.
    async fn write_hold(&self, id: ActivityId, ticked: &mut Ticked) -> bool {
        self.operator.release_again(id).await;
        if !self.operator.is_pending(id) {
            return true;
        }
        let written = self.operator.write_hold(id, None, None).await;
        ticked.note(Part::Terms, Some(id), written).is_some() && !self.operator.is_pending(id)
    }

    /// Brings rules to a store that may not have them: after a start, after a crash between ledger and store, and where another process changed them.
    async fn sync(&mut self, activity: &Activity, ticked: &mut Ticked) {
        let (id, now) = (activity.id, self.operator.layers.stock.now());
        let is_fenced = self.operator.fenced.lock().contains(&id);
        // A process that shares the store may have died behind a fence of its own.
        let is_old = |at: EpochMs| self.operator.layers.queue.loses_states() && at.plus(SYNC_AGAIN_MS) <= now;
        let synced = self.synced.get(&id).filter(|(_, _, at)| !is_old(*at));
        let is_told = |told: &(u64, Terms, EpochMs)| (told.0, told.1) == (activity.version, activity.terms());
        if !is_fenced && synced.is_some_and(is_told) {
            return;
        }
        if let Some(synced) = ticked.note(Part::Terms, Some(id), self.operator.sync_terms(id).await) {
            self.synced.insert(id, (synced.version, synced.terms(), now));
        }
    }

    async fn resume(&self, activity: &Activity, now: EpochMs, ticked: &mut Ticked) {
        let id = activity.id;
        let (Status::Paused, Some(resumes_at)) = (activity.status, activity.resumes_at) else {
            return;
        };
        ticked.wanted_at(now, resumes_at);
        if now < resumes_at {
            return;
        }
        // The list may be older than the operator's last word: only a pause that still ends at this moment does.
        let resumed = self.operator.resume_due(id, resumes_at).await;
        if ticked.note(Part::Terms, Some(id), resumed) == Some(true) {
            ticked.resumed.push(id);
        }
    }

    /// Closes a sale that is over, unless its end was moved since the list was read: closing can't be undone.
    async fn close(&self, id: ActivityId, now: EpochMs, ticked: &mut Ticked) {
        let present = self.operator.layers.ledger.activity(id).await.map_err(Error::from);
        let Some(present) = ticked.note(Part::Close, Some(id), present) else {
            return;
        };
        if now < present.window.ends_at.plus(self.settings.close_after_end_ms) {
            return;
        }
        let closed = self.operator.close(id, self.operator.own_context()).await;
        if ticked.note(Part::Close, Some(id), closed).is_some() {
            ticked.closed.push(id);
        }
    }

    /// What a crash may have left between two steps, and what has time.
    async fn repair(&mut self, mut activities: Vec<Activity>, now: EpochMs, ticked: &mut Ticked) {
        let operator = self.operator.clone();
        let with_state = operator.layers.stock.activities().await.map_err(Error::from);
        let with_state = ticked.note(Part::Catalogue, None, with_state).unwrap_or_default();
        for id in with_state {
            if activities.iter().all(|activity| activity.id != id) {
                // Closed longer ago than the gate remembers, or not in this ledger at all; the operator's recovery names the latter.
                let activity = operator.layers.ledger.activity(id).await.map_err(Error::from);
                if let Some(activity) = ticked.note(Part::Catalogue, Some(id), activity) {
                    self.heal(&activity, ticked).await;
                    activities.push(activity);
                }
            }
        }
        for activity in &activities {
            self.repair_one(&operator, activity, now, ticked).await;
        }
        self.forget(&operator, &activities, now, ticked).await;
        let is_there = |id: &ActivityId| activities.iter().any(|activity| activity.id == *id);
        self.synced.retain(|id, _| is_there(id));
        self.closed.retain(is_there);
        self.trials.retain(is_there);
        self.coming.retain(is_there);
    }

    async fn repair_one(&mut self, operator: &Operator, activity: &Activity, now: EpochMs, ticked: &mut Ticked) {
        let id = activity.id;
        if operator.has_state(id) {
            let applied = ticked.note(Part::Movements, Some(id), operator.apply_movements(id).await);
            ticked.movements_applied += applied.unwrap_or(0);
            let finished = ticked.note(Part::DeadLetters, Some(id), operator.finish_dead_letters(id).await);
            let discarded = ticked.note(
                Part::DeadLetters,
                Some(id),
                operator.discard_after_end(activity, now).await,
            );
            ticked.dead_letters += finished.unwrap_or(0) + discarded.unwrap_or(0);
        }
        if activity.status != Status::Closed {
            self.closed.remove(&id);
            return;
        }
        let has_left = operator.layers.stock.stock_left(id).is_some_and(|left| left != 0);
        if has_left || !self.closed.contains(&id) {
            let closing = ticked.note(Part::Close, Some(id), operator.finish_closing(id).await);
            if let Some(closing) = closing {
                ticked.units_returned += closing.returned;
                if closing.done {
                    self.closed.insert(id);
                }
            }
        }
    }
}
