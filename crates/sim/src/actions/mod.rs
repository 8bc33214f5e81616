//! What can happen from outside at a step: people, operators, workers, clocks, and everything that fails.

mod buyers;
mod operators;
mod orders;
mod switches;
mod troubles;

use std::sync::Arc;

use seckill_ledger::Context;
use seckill_sale::{ActivityId, EpochMs, Ticket, UserId};

use crate::auditor::TicketNumber;
use crate::scenario::Action;
use crate::world::World;

pub(crate) use buyers::{buy_one, progress_of};
pub(crate) use switches::read as read_switches;
pub(crate) use troubles::move_clock;

/// Lets one thing begin.
pub(crate) fn act(world: &mut World, action: Action) {
    match action {
        Action::Buy => buyers::buy(world),
        Action::Look => buyers::look(world),
        Action::Replay => buyers::replay(world),
        Action::Settle => settle(world),
        Action::Tick => tick(world),
        Action::Sweep => operators::sweep(world),
        Action::Pay => orders::pay(world),
        Action::Cancel => orders::cancel(world),
        Action::Preheat => operators::preheat(world),
        Action::Pause | Action::Resume | Action::Close => operators::set_status(world, action),
        Action::AddStock => operators::add_stock(world),
        Action::PatchEnd => operators::patch_end(world),
        Action::SetSwitches => switches::set(world),
        Action::ReadSwitches => switches::read(world),
        Action::Audit => operators::audit(world),
        Action::ReconcileDry => operators::reconcile_dry(world),
        Action::ReconcileFix => operators::reconcile_fix(world),
        Action::DiscardLetter | Action::RetryLetter => operators::resolve_letter(world, action),
        Action::Advance
        | Action::GoBack
        | Action::LedgerFalls
        | Action::LedgerRises
        | Action::RepliesGetLost
        | Action::RepliesArrive
        | Action::DiskFills
        | Action::DiskEmpties
        | Action::DiskFails
        | Action::Kill
        | Action::CutPower
        | Action::Compact
        | Action::CompactLive
        | Action::Poison
        | Action::Cure => troubles::trouble(world, action),
    }
}

/// A worker takes a batch to the ledger.
pub(crate) fn settle(world: &mut World) {
    let settle = world.process().settle.clone();
    let weather = world.weather.clone();
    let number = world.number();
    world.errand(format!("settle {number}"), async move {
        let pass = settle.pass().await;
        weather.note(&format!("settle {number}: {pass:?}"));
    });
}

/// The scheduler does what is due.
pub(crate) fn tick(world: &mut World) {
    let shelf = world.process().scheduler.clone();
    let Some(mut scheduler) = shelf.borrow_mut().take() else {
        return;
    };
    let weather = world.weather.clone();
    let now = EpochMs(world.now_ms());
    world.errand("tick".to_owned(), async move {
        let ticked = scheduler.tick(now).await;
        weather.note(&format!("tick: {ticked:?}"));
        shelf.borrow_mut().replace(scheduler);
    });
}

/// One of the sales.
pub(crate) fn any_sale(world: &mut World) -> i64 {
    let World { random, sales, .. } = world;
    *random.pick(sales)
}

pub(crate) fn activity_id(activity: i64) -> ActivityId {
    ActivityId::new(activity.unsigned_abs()).expect("a sale that exists")
}

pub(crate) fn user_id(user: &str) -> UserId {
    UserId::new(user).expect("a short name")
}

pub(crate) fn plain_ticket(ticket: Ticket) -> TicketNumber {
    TicketNumber {
        activity: ticket.activity.get().cast_signed(),
        epoch: ticket.epoch.get().cast_signed(),
        sequence: ticket.sequence.cast_signed(),
    }
}

/// An operator who sends no idempotency key.
pub(crate) fn operator_context(world: &World) -> Context {
    Context {
        actor: "operator".to_owned(),
        now: EpochMs(world.now_ms()),
        idempotency: None,
    }
}

/// The auditor, for an errand.
type Ears = (
    std::rc::Rc<std::cell::RefCell<crate::auditor::Auditor>>,
    Arc<crate::weather::Weather>,
);

pub(crate) fn ears(world: &World) -> Ears {
    (world.auditor.clone(), world.weather.clone())
}
