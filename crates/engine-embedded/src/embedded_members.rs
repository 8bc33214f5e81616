//! The handle as a register of nodes: there is one, in memory, and it holds every lease that it asks for.

use std::collections::HashMap;

use async_trait::async_trait;
use parking_lot::Mutex;
use seckill_sale::{EpochMs, NotReady};
use seckill_stock::Error;
use seckill_stock::members::{FIGURES_BYTES_MAX, LEASE_MS_MAX, Living, Member, Members};

use crate::Embedded;
use crate::embedded_brake::Waiting;

/// A member that was not heard of for so long is forgotten.
const FORGET_AFTER_MS: i64 = 3_600_000;

/// What is known of the nodes of this process.
#[derive(Default)]
pub(crate) struct InMemory {
    beats: Mutex<HashMap<String, (Member, EpochMs)>>,
    leases: Mutex<HashMap<String, Lease>>,
    pub(crate) waiting: Waiting,
}

struct Lease {
    holder: String,
    until: EpochMs,
}

impl Lease {
    fn is_held(&self, now: EpochMs) -> bool {
        (1..=LEASE_MS_MAX).contains(&self.until.since(now))
    }
}

#[async_trait]
impl Members for Embedded {
    async fn beat(&self, member: Member) -> Result<(), Error> {
        if FIGURES_BYTES_MAX < member.figures.len() {
            return Err(Error::NotReady(NotReady::StoreFull));
        }
        let now = self.shared.clock.now();
        let mut beats = self.shared.members.beats.lock();
        beats.retain(|_, (_, beat_at)| now.since(*beat_at) < FORGET_AFTER_MS);
        beats.insert(member.id.clone(), (member, now));
        Ok(())
    }

    async fn members(&self, age_ms_max: i64) -> Result<Vec<Living>, Error> {
        let now = self.shared.clock.now();
        let beats = self.shared.members.beats.lock();
        let living = beats.values().map(|(member, beat_at)| Living {
            member: member.clone(),
            beat_at: *beat_at,
            age_ms: now.since(*beat_at),
        });
        let mut living: Vec<_> = living
            .filter(|living| (0..age_ms_max).contains(&living.age_ms))
            .collect();
        living.sort_by(Living::order);
        Ok(living)
    }

    async fn leave(&self, id: &str) -> Result<(), Error> {
        self.shared.members.beats.lock().remove(id);
        Ok(())
    }

    async fn lease(&self, name: &str, holder: &str, for_ms: i64) -> Result<bool, Error> {
        let now = self.shared.clock.now();
        let mut leases = self.shared.members.leases.lock();
        if leases
            .get(name)
            .is_some_and(|lease| lease.is_held(now) && lease.holder != holder)
        {
            return Ok(false);
        }
        let lease = Lease {
            holder: holder.to_owned(),
            until: now.plus(for_ms.min(LEASE_MS_MAX)),
        };
        leases.insert(name.to_owned(), lease);
        Ok(true)
    }

    async fn release(&self, name: &str, holder: &str) -> Result<(), Error> {
        let mut leases = self.shared.members.leases.lock();
        leases.retain(|held, lease| held != name || lease.holder != holder);
        Ok(())
    }

    async fn holder(&self, name: &str) -> Result<Option<String>, Error> {
        let now = self.shared.clock.now();
        let leases = self.shared.members.leases.lock();
        let held = leases.get(name).filter(|lease| lease.is_held(now));
        Ok(held.map(|lease| lease.holder.clone()))
    }
}
