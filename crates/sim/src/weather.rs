//! The conditions under which the product works, shared by all wrappers around it: what fails now, what is poisoned, what step it is.
//!
//! The wrappers also note here when units may have come back into a sale, which the auditor needs to judge a "sold out".

mod returns;

use std::collections::BTreeMap;

use parking_lot::Mutex;
use seckill_sale::ActivityId;

use crate::executor;
use crate::fault::Fault;
use crate::random::Random;
use crate::trace::Trace;

/// Shared by everybody in a run.
#[derive(Debug)]
pub(crate) struct Weather(Mutex<Conditions>);

#[derive(Debug)]
struct Conditions {
    random: Random,
    trace: Trace,
    step: u64,
    now_ms: i64,
    fault: Option<Fault>,
    fault_met: u64,
    compacting: bool,
    ledger_down: bool,
    lost_replies_permille: u64,
    replies_lost: u64,
    pauses_permille: u64,
    poison: BTreeMap<String, Poison>,
    returning: BTreeMap<ActivityId, u32>,
    returned_at: BTreeMap<ActivityId, u64>,
}

/// How a poisoned ticket fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Poison {
    /// The database takes its row never.
    Row,
    /// Each attempt fails, but perhaps not the next.
    Attempts,
}

/// How a call goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Course {
    /// As it should.
    Normal,
    /// It is not done.
    Refused,
    /// It is done, but the answer does not arrive.
    ReplyLost,
}

impl Weather {
    pub(crate) fn new(random: Random, trace: Trace, fault: Option<Fault>, now_ms: i64) -> Self {
        Self(Mutex::new(Conditions {
            random,
            trace,
            step: 0,
            now_ms,
            fault,
            fault_met: 0,
            compacting: false,
            ledger_down: false,
            lost_replies_permille: 0,
            replies_lost: 0,
            pauses_permille: 0,
            poison: BTreeMap::new(),
            returning: BTreeMap::new(),
            returned_at: BTreeMap::new(),
        }))
    }

    pub(crate) fn note(&self, line: &str) {
        let mut conditions = self.0.lock();
        let line = format!("{:>5} {:>8} {line}", conditions.step, conditions.now_ms);
        conditions.trace.note(line);
    }

    pub(crate) fn digest(&self) -> u64 {
        self.0.lock().trace.digest()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().trace.lines()
    }

    pub(crate) fn step(&self) -> u64 {
        self.0.lock().step
    }

    pub(crate) fn next_step(&self, now_ms: i64) {
        let mut conditions = self.0.lock();
        conditions.step += 1;
        conditions.now_ms = now_ms;
    }

    /// Whether this fault is planted.
    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.0.lock().fault == Some(fault)
    }

    /// Whether this fault is planted and strikes now: at every `every`-th chance.
    pub(crate) fn strikes(&self, fault: Fault, every: u64) -> bool {
        let mut conditions = self.0.lock();
        if conditions.fault != Some(fault) {
            return false;
        }
        conditions.fault_met += 1;
        let strikes = conditions.fault_met.is_multiple_of(every);
        drop(conditions);
        if strikes {
            self.note("    (the planted fault strikes)");
        }
        strikes
    }

    /// Whether the journal is compacted beside the process just now.
    pub(crate) fn set_compacting(&self, compacting: bool) {
        self.0.lock().compacting = compacting;
    }

    pub(crate) fn is_compacting(&self) -> bool {
        self.0.lock().compacting
    }

    pub(crate) fn set_ledger_down(&self, down: bool) {
        self.0.lock().ledger_down = down;
    }

    pub(crate) fn set_lost_replies(&self, permille: u64) {
        self.0.lock().lost_replies_permille = permille;
    }

    /// Replies that were lost so far: equal before and after something, none of its replies were.
    pub(crate) fn replies_lost(&self) -> u64 {
        self.0.lock().replies_lost
    }

    pub(crate) fn set_pauses(&self, permille: u64) {
        self.0.lock().pauses_permille = permille;
    }

    pub(crate) fn poison(&self, user: String, poison: Poison) {
        self.0.lock().poison.insert(user, poison);
    }

    pub(crate) fn cure(&self) {
        self.0.lock().poison.clear();
    }

    pub(crate) fn poison_of(&self, user: &str) -> Option<Poison> {
        self.0.lock().poison.get(user).copied()
    }

    /// How a call to the ledger goes.
    pub(crate) fn ledger_course(&self) -> Course {
        let mut conditions = self.0.lock();
        if conditions.ledger_down {
            return Course::Refused;
        }
        conditions.reply()
    }

    /// How a call to the store goes: what it refuses by itself it refuses by itself.
    pub(crate) fn store_course(&self) -> Course {
        self.0.lock().reply()
    }

    /// Lets others go first, at times.
    pub(crate) async fn pause(&self) {
        let pauses = {
            let mut conditions = self.0.lock();
            let permille = conditions.pauses_permille;
            permille != 0 && conditions.random.chance(permille)
        };
        if pauses {
            executor::pause().await;
        }
    }
}

impl Conditions {
    fn reply(&mut self) -> Course {
        let permille = self.lost_replies_permille;
        if permille != 0 && self.random.chance(permille) {
            self.replies_lost += 1;
            Course::ReplyLost
        } else {
            Course::Normal
        }
    }
}
