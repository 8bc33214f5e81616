//! The part of a sale that every core reads without asking its owner: buyers, and marks that are published once they are durable.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::buyer::Entry;
use crate::buyers::Buyers;
use crate::publishing::Shown;
use crate::{ActivityId, Buyer, Epoch, EpochMs, Hold, InQueue, Ticket, TicketState, UserId};

/// Units and tickets of one sale, as its store counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Generation of the state.
    pub epoch: Epoch,
    /// Units that can still be admitted.
    pub stock_left: u64,
    /// Units of every buyer ever admitted.
    pub accepted: u64,
    /// Units of tickets without a final result, dead ones aside.
    pub queued: u64,
    /// Units of dead letters.
    pub dead: u64,
    /// Tickets without a final result, dead ones aside.
    pub queued_tickets: u64,
    /// Of these, how many are with a worker: the ledger may be ahead of the store by them.
    pub leased_tickets: u64,
    /// Every ticket up to this sequence has a final result or is dead. Never falls while tickets only leave the queue.
    pub settled_up_to: u64,
    /// Dead letters.
    pub dead_tickets: u64,
    /// When the oldest waiting ticket was accepted.
    pub oldest_accepted_at: Option<EpochMs>,
    /// Last stock movement of the ledger that is contained in `stock_left`.
    pub applied_movement: u64,
    /// Sequence of the next ticket.
    pub next_sequence: u64,
    /// Counts every change of the above, so that two equal readings can be told from two different ones.
    pub revision: u64,
}

/// What a view knows of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// His admission is durable.
    Buyer(Box<Buyer>),
    /// His admission is decided, but not durable yet.
    OnItsWay,
    /// Nothing.
    Nothing,
}

/// Readable by every core. Marks are published by the owner after what they tell is durable.
#[derive(Debug)]
pub struct SaleView {
    pub(crate) activity: ActivityId,
    pub(crate) buyers: Buyers,
    created_at: OnceLock<EpochMs>,
    marks: Marks,
}

/// Written with every batch, so they share no cache line with what leads to the buyers.
#[derive(Debug)]
#[repr(align(128))]
struct Marks {
    /// Entries of this sequence and above are decided, but not durable yet: not to be seen.
    visible_below: AtomicU64,
    stock_left: AtomicU64,
    settled_up_to: AtomicU64,
    oldest_accepted_at: AtomicI64,
    queued_tickets: AtomicU64,
    open: AtomicBool,
    held: Mutex<Option<Hold>>,
}

/// No ticket waits.
const NONE_WAITS: i64 = i64::MIN;

impl SaleView {
    pub(crate) fn new(activity: ActivityId, expected_buyers: u64) -> Self {
        Self {
            activity,
            buyers: Buyers::for_about(expected_buyers),
            created_at: OnceLock::new(),
            marks: Marks {
                visible_below: AtomicU64::new(0),
                stock_left: AtomicU64::new(0),
                settled_up_to: AtomicU64::new(0),
                oldest_accepted_at: AtomicI64::new(NONE_WAITS),
                queued_tickets: AtomicU64::new(0),
                open: AtomicBool::new(false),
                held: Mutex::new(None),
            },
        }
    }

    pub(crate) fn publish(&self, shown: &Shown, open: bool, held: Option<Hold>) {
        self.marks.settled_up_to.store(shown.settled_up_to, Ordering::Release);
        self.marks.oldest_accepted_at.store(
            shown.oldest_accepted_at.map_or(NONE_WAITS, |at| at.0),
            Ordering::Release,
        );
        self.marks.queued_tickets.store(shown.queued_tickets, Ordering::Release);
        self.marks.visible_below.store(shown.next_sequence, Ordering::Release);
        self.marks.stock_left.store(shown.stock_left, Ordering::Release);
        self.marks.open.store(open, Ordering::Release);
        *self.marks.held.lock() = held;
    }

    /// The sale.
    #[must_use]
    pub const fn activity(&self) -> ActivityId {
        self.activity
    }

    /// When the sale was created, as [`crate::Terms::created_at`].
    #[must_use]
    pub fn created_at(&self) -> Option<EpochMs> {
        self.created_at.get().copied()
    }

    pub(crate) fn set_created_at(&self, created_at: Option<EpochMs>) {
        if let Some(created_at) = created_at {
            // The first word holds.
            let _known = self.created_at.set(created_at);
        }
    }

    /// Units left, as last made durable.
    #[must_use]
    pub fn stock_left(&self) -> u64 {
        self.marks.stock_left.load(Ordering::Acquire)
    }

    /// Whether the sale takes claims at all: neither paused, held nor closed. Its window is not looked at.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.marks.open.load(Ordering::Acquire)
    }

    /// The operator's pause that the ledger may not have yet.
    #[must_use]
    pub fn held(&self) -> Option<Hold> {
        *self.marks.held.lock()
    }

    /// Every ticket up to this sequence is settled or dead.
    #[must_use]
    pub fn settled_up_to(&self) -> u64 {
        self.marks.settled_up_to.load(Ordering::Acquire)
    }

    /// When the oldest waiting ticket was accepted.
    #[must_use]
    pub fn oldest_accepted_at(&self) -> Option<EpochMs> {
        let at = self.marks.oldest_accepted_at.load(Ordering::Acquire);
        (at != NONE_WAITS).then_some(EpochMs(at))
    }

    /// What the sale has of the queue, and may still bring into it, as last made durable.
    #[must_use]
    pub fn in_queue(&self) -> InQueue {
        InQueue {
            tickets: self.marks.queued_tickets.load(Ordering::Acquire),
            units: if self.is_open() { self.stock_left() } else { 0 },
        }
    }

    /// A buyer whose admission is durable.
    #[must_use]
    pub fn buyer(&self, user: &UserId) -> Option<Buyer> {
        let (_, entry) = self.buyers.get(user)?;
        self.is_visible(&entry).then(|| self.buyer_of(user.clone(), &entry))
    }

    /// What is known of a user: a durable admission, one on its way to the disk, or nothing.
    #[must_use]
    pub fn find(&self, user: &UserId) -> Found {
        match self.buyers.get(user) {
            None => Found::Nothing,
            Some((_, entry)) if self.is_visible(&entry) => Found::Buyer(Box::new(self.buyer_of(user.clone(), &entry))),
            Some(_) => Found::OnItsWay,
        }
    }

    /// The `page`-th part of the durable buyers, in no order; none past the last part.
    #[must_use]
    pub fn buyers_page(&self, page: u32) -> Option<Vec<Buyer>> {
        let entries = self.buyers.page(page)?;
        Some(
            entries
                .into_iter()
                .filter(|(_, entry)| self.is_visible(entry))
                .map(|(user, entry)| self.buyer_of(user, &entry))
                .collect(),
        )
    }

    fn is_visible(&self, entry: &Entry) -> bool {
        entry.sequence < self.marks.visible_below.load(Ordering::Acquire)
    }

    pub(crate) fn buyer_of(&self, user: UserId, entry: &Entry) -> Buyer {
        let ticket = Ticket {
            activity: self.activity,
            epoch: entry.epoch,
            sequence: entry.sequence,
        };
        Buyer {
            user,
            ticket,
            quantity: entry.quantity,
            key: entry.key,
            accepted_at: entry.accepted_at,
            state: entry.state(),
        }
    }

    pub(crate) fn is_final(state: TicketState) -> bool {
        matches!(state, TicketState::Succeeded | TicketState::Failed(_))
    }
}
