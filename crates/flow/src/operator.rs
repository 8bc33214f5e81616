//! What operators and the scheduler work with: the three layers, the node's catalogue, and the settings that decide where units go.
//!
//! The procedures themselves stand one topic a file (`preheat`, `close`, `movements`, …), each as methods of [`Operator`]. None of them
//! waits on a timer; whoever repeats them brings the time. Each can be stopped anywhere and asked again: the ledger is written first,
//! the store follows, and the scheduler repeats what a crash left out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use seckill_gate::Catalogue;
use seckill_ledger::{Context, Error as LedgerError, Ledger, UnitsOnCancel};
use seckill_queue::Queue;
use seckill_sale::{Activity, ActivityId, EpochMs, Status};
use seckill_stock::Stock;
use tokio::sync::{Mutex, Notify};

use crate::asked::Asked;
use crate::{DeadLettersAfterEnd, Results};

/// Why a procedure did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The ledger refused, or could not be used.
    #[error(transparent)]
    Ledger(#[from] seckill_ledger::Error),
    /// The store gave no answer of its own.
    #[error(transparent)]
    Stock(#[from] seckill_stock::Error),
    /// The queue gave no answer.
    #[error(transparent)]
    Queue(#[from] seckill_queue::Error),
    /// The activity's window is over.
    #[error("the activity has ended")]
    Ended,
    /// The store has no state of this activity.
    #[error("the store has no state of this activity; preheat it first")]
    NoState,
    /// Rows changed during each of several readings. Nothing was changed; ask again.
    #[error("the activity changed while it was read; ask again")]
    Unstable,
}

impl Error {
    /// What a layer that can't be reached means to whoever asked, where the ledger has it already: the scheduler does the rest later.
    pub(crate) fn after_the_ledger(self) -> Self {
        match self {
            Self::Ledger(LedgerError::Outage(reason)) => Self::Ledger(LedgerError::OutcomeUnknown(reason)),
            // Nor is what the store can't take yet refused: it gets it when it can.
            Self::Stock(seckill_stock::Error::Unavailable | seckill_stock::Error::NotReady(_)) => {
                Self::Stock(seckill_stock::Error::OutcomeUnknown)
            }
            Self::Queue(seckill_queue::Error::Unavailable) => Self::Queue(seckill_queue::Error::OutcomeUnknown),
            error => error,
        }
    }
}

/// What the settings say about units and dead letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorSettings {
    /// Where units of a cancelled or expired order go.
    pub units_on_cancel: UnitsOnCancel,
    /// What becomes of dead letters after the end.
    pub dead_letters_after_end: DeadLettersAfterEnd,
}

impl Default for OperatorSettings {
    fn default() -> Self {
        Self {
            units_on_cancel: UnitsOnCancel::Product,
            dead_letters_after_end: DeadLettersAfterEnd::Keep,
        }
    }
}

/// The layers that an [`Operator`] works on.
#[derive(Clone)]
pub struct Layers {
    /// Stock of all sales.
    pub stock: Arc<dyn Stock>,
    /// Their queue.
    pub queue: Arc<dyn Queue>,
    /// The database.
    pub ledger: Arc<dyn Ledger>,
    /// Who waits for results: told where an operator makes one final.
    pub results: Arc<Results>,
    /// What the gate of this node knows.
    pub catalogue: Arc<Catalogue>,
}

/// Carries out what operators and the scheduler ask for. One a process, shared by both.
pub struct Operator {
    pub(crate) layers: Layers,
    pub(crate) settings: OperatorSettings,
    /// Held from reading a row's rules to handing them to the store, so that an older reading never undoes a newer one.
    pub(crate) terms: Mutex<()>,
    /// One of this process preheats or heals at a time: of two, the one with the later epoch would make the other's work void.
    pub(crate) building: Mutex<()>,
    /// Sales whose first epoch was drawn by this process, until they have a state: it need not wait for another to build that.
    pub(crate) first_drawn: parking_lot::Mutex<BTreeSet<ActivityId>>,
    /// When states were healed by this process: built anew, or confirmed.
    pub(crate) rebuilt_at: parking_lot::Mutex<HashMap<ActivityId, EpochMs>>,
    /// Held from reading how the store holds a sale to releasing it, so that each pause is written once.
    pub(crate) holding: Mutex<()>,
    /// Pauses that the ledger may not have yet.
    pub(crate) asked: Asked,
    /// Held from reading the list of activities to publishing it, for the same reason.
    pub(crate) listing: Mutex<()>,
    /// One reconciliation at a time: two at once are one after the other.
    pub(crate) reconciling: Mutex<()>,
    /// Sales that were fenced for a moment and not opened again yet; the scheduler opens what a broken call left.
    pub(crate) fenced: parking_lot::Mutex<BTreeSet<ActivityId>>,
    /// Sales whose state the ledger never began, until it has followed: nobody is let in meanwhile.
    pub(crate) unissued: parking_lot::Mutex<BTreeSet<ActivityId>>,
    /// What the last audit of each sale found; for the sales of the catalogue.
    pub(crate) audited: parking_lot::Mutex<BTreeMap<ActivityId, Option<bool>>>,
    changed: Arc<Notify>,
}

impl Operator {
    /// An operator's hand on `layers`.
    #[must_use]
    pub fn new(layers: Layers, settings: OperatorSettings) -> Self {
        Self {
            layers,
            settings,
            terms: Mutex::new(()),
            building: Mutex::new(()),
            first_drawn: parking_lot::Mutex::default(),
            rebuilt_at: parking_lot::Mutex::default(),
            holding: Mutex::new(()),
            asked: Asked::default(),
            listing: Mutex::new(()),
            reconciling: Mutex::new(()),
            fenced: parking_lot::Mutex::default(),
            unissued: parking_lot::Mutex::default(),
            audited: parking_lot::Mutex::default(),
            changed: Arc::new(Notify::new()),
        }
    }

    /// The layers.
    #[must_use]
    pub const fn layers(&self) -> &Layers {
        &self.layers
    }

    /// Told whenever something was changed by which the scheduler may have to act earlier than it planned.
    #[must_use]
    pub fn changed(&self) -> Arc<Notify> {
        self.changed.clone()
    }

    pub(crate) fn tell_scheduler(&self) {
        self.changed.notify_one();
    }

    /// What the house itself does, for audit rows.
    pub(crate) fn own_context(&self) -> Context {
        Context {
            actor: "scheduler".to_owned(),
            now: self.layers.stock.now(),
            idempotency: None,
        }
    }

    /// Whether the store has a state of the activity. Costs no IO.
    pub(crate) fn has_state(&self, id: ActivityId) -> bool {
        self.layers.stock.stock_left(id).is_some()
    }

    /// Whether the store lets nobody in although the sale's row does not say so: its state was lost and is not rebuilt yet, it is being
    /// brought in line, or it is of another sale, or of a time, that the ledger has lost. Costs no IO.
    #[must_use]
    pub fn is_fenced(&self, activity: &Activity) -> bool {
        let ended = activity.status == Status::Closed || activity.window.ends_at <= self.layers.stock.now();
        let lost = !ended && activity.epoch.is_some() && !self.has_state(activity.id);
        lost || self.fenced.lock().contains(&activity.id) || self.is_unissued(activity.id)
    }

    pub(crate) fn is_unissued(&self, id: ActivityId) -> bool {
        self.unissued.lock().contains(&id)
    }
}
