//! What an operator does on the night of the sale.

use std::rc::Rc;

use seckill_flow::{DifferenceKind, Fix, Report};
use seckill_ledger::{ActivityPatch, DeadLetterState, Idempotency, PageRequest, Replayed};
use seckill_sale::{EpochMs, Stock as Units};
use seckill_stock::{Rebase, Stock};

use super::{activity_id, any_sale, ears, operator_context};
use crate::auditor::{Auditor, Status};
use crate::fault::Fault;
use crate::scenario::Action;
use crate::world::World;

pub(super) fn preheat(world: &mut World) {
    let activity = any_sale(world);
    let (operator, context) = (world.process().operator.clone(), operator_context(world));
    let (_, weather) = ears(world);
    world.errand(format!("preheat {activity}"), async move {
        let done = operator.preheat(activity_id(activity), context).await;
        weather.note(&format!("preheat {activity}: {done:?}"));
    });
}

pub(super) fn sweep(world: &mut World) {
    let operator = world.process().operator.clone();
    let now = EpochMs(world.now_ms());
    let (_, weather) = ears(world);
    world.errand("sweep".to_owned(), async move {
        let swept = operator.sweep(now).await;
        weather.note(&format!("sweep: {swept:?}"));
    });
}

pub(super) fn set_status(world: &mut World, action: Action) {
    let activity = any_sale(world);
    let for_a_while = action == Action::Pause && world.random.chance(300);
    let resumes_at = for_a_while.then(|| EpochMs(world.now_ms() + 5_000));
    let status = match action {
        Action::Pause if for_a_while => Status::PausedForAWhile,
        Action::Pause => Status::Paused,
        Action::Resume => Status::Running,
        _ => Status::Closed,
    };
    let (operator, context) = (world.process().operator.clone(), operator_context(world));
    let (auditor, weather) = ears(world);
    let change = auditor.borrow_mut().status_asked(activity, status);
    world.errand(format!("{action:?} {activity} {resumes_at:?}"), async move {
        let id = activity_id(activity);
        let done = match action {
            Action::Pause => operator.pause(id, resumes_at, context).await,
            Action::Resume => operator.resume(id, context).await,
            _ => operator.close(id, context).await,
        };
        let done = done.map(|activity| activity.version);
        weather.note(&format!("{action:?} {activity}: {done:?}"));
        auditor.borrow_mut().status_told(change, done.is_ok());
    });
}

/// An addition is asked for again with the same key, at times.
pub(super) fn add_stock(world: &mut World) {
    let activity = any_sale(world);
    if world.number().is_multiple_of(2) {
        world.made += 1;
    }
    let (key, units) = (format!("add-{}-{activity}", world.made / 3), 1 + world.made / 3 % 3);
    let mut context = operator_context(world);
    context.idempotency = Some(Idempotency {
        key: key.clone(),
        digest: [1; 16],
        replayed: Replayed::default(),
    });
    let operator = world.process().operator.clone();
    let (auditor, weather) = ears(world);
    auditor.borrow_mut().units_asked(activity, &key, units.cast_signed());
    world.errand(format!("{key}: {units} units"), async move {
        let units = Units::new(units).expect("a small number");
        let done = operator.add_stock(activity_id(activity), units, context).await;
        weather.note(&format!("{key}: {done:?}"));
        if done.is_ok() {
            auditor.borrow_mut().units_told(activity, &key);
        }
    });
}

pub(super) fn patch_end(world: &mut World) {
    let activity = any_sale(world);
    let ends_at = world.now_ms() + *world.random.pick(&[500, 10_000, 600_000]);
    let patch = ActivityPatch {
        ends_at: Some(EpochMs(ends_at)),
        ..ActivityPatch::default()
    };
    let (operator, context) = (world.process().operator.clone(), operator_context(world));
    let (auditor, weather) = ears(world);
    let change = auditor.borrow_mut().end_asked(activity, ends_at);
    world.errand(format!("end of {activity} at {ends_at}"), async move {
        let done = operator.patch_activity(activity_id(activity), patch, context).await;
        let done = done.map(|activity| activity.version);
        weather.note(&format!("end of {activity} at {ends_at}: {done:?}"));
        auditor.borrow_mut().end_told(change, done.is_ok());
    });
}

/// The product's own audit must not raise a false alarm, whatever is between ledger and store.
pub(super) fn audit(world: &mut World) {
    let activity = any_sale(world);
    let operator = world.process().operator.clone();
    let (auditor, weather) = ears(world);
    world.errand(format!("audit {activity}"), async move {
        let audit = operator.audit(activity_id(activity)).await;
        weather.note(&format!("audit {activity}: {audit:?}"));
        if let Ok(audit) = audit
            && audit.balanced == Some(false)
        {
            let detail = format!("activity {activity}: {audit:?}");
            auditor.borrow_mut().fail("the product's audit balances", detail);
        }
    });
}

pub(super) fn reconcile_dry(world: &mut World) {
    let activity = any_sale(world);
    let operator = world.process().operator.clone();
    let (auditor, weather) = ears(world);
    world.errand(format!("reconcile {activity}"), async move {
        let report = operator.reconcile(activity_id(activity), Fix::Nothing).await;
        weather.note(&format!("reconcile {activity}: {report:?}"));
        if let Ok(report) = report {
            judge(&mut auditor.borrow_mut(), activity, &report);
        }
    });
}

pub(super) fn reconcile_fix(world: &mut World) {
    let activity = any_sale(world);
    let (operator, store) = (world.process().operator.clone(), world.process().store.clone());
    let (auditor, weather) = ears(world);
    let raises = world.has(Fault::ReconcileRaises);
    auditor.borrow_mut().fence_asked(activity);
    world.errand(format!("reconcile {activity} with fix"), async move {
        let id = activity_id(activity);
        let report = operator.reconcile(id, Fix::Differences).await;
        weather.note(&format!("reconcile {activity} with fix: {report:?}"));
        if let Ok(report) = report {
            judge(&mut auditor.borrow_mut(), activity, &report);
        }
        if raises && let Ok(Some(figures)) = store.figures(id).await {
            let rebase = Rebase {
                activity: id,
                epoch: figures.epoch,
                left: figures.stock_left + 1,
                applied_movement: figures.applied_movement,
                may_rise: true,
                requeue: Vec::new(),
            };
            let raised = store.rebase(rebase).await;
            weather.note(&format!("    (the planted fault strikes) {raised:?}"));
        }
    });
}

/// Nothing was lost here, so a reconciliation may only find what is on its way.
fn judge(auditor: &mut Auditor, activity: i64, report: &Report) {
    let on_its_way = |kind| {
        matches!(
            kind,
            DifferenceKind::MovementsUnapplied
                | DifferenceKind::Unfinished
                | DifferenceKind::ParkedInLedgerOnly
                | DifferenceKind::DeadInStoreOnly
        )
    };
    if let Some(difference) = report.differences.iter().find(|one| !on_its_way(one.kind)) {
        auditor.fail(
            "store and ledger know the same",
            format!("activity {activity}: {difference:?}"),
        );
    }
}

/// Retries or discards one of the letters that are parked.
pub(super) fn resolve_letter(world: &mut World, action: Action) {
    let (operator, context) = (world.process().operator.clone(), operator_context(world));
    let (auditor, weather) = ears(world);
    let chance = world.random.next();
    if action == Action::RetryLetter {
        auditor.borrow_mut().revival_asked();
    }
    let number = world.number();
    world.errand(format!("{action:?} {number}"), async move {
        let page = PageRequest {
            cursor: None,
            limit: PageRequest::LIMIT_MAX,
        };
        let Ok(letters) = operator.dead_letters(page).await else {
            return;
        };
        // Also letters that were resolved before: asking twice is harmless.
        let stale = chance.is_multiple_of(4);
        let mut letters = letters.rows;
        letters.retain(|letter| stale || letter.state == DeadLetterState::Parked);
        if letters.is_empty() {
            return;
        }
        let at = usize::try_from(chance % letters.len() as u64).expect("below a length");
        let letter = Rc::new(letters.swap_remove(at));
        let done = if action == Action::RetryLetter {
            operator.retry_dead_letter(letter.id, context).await
        } else {
            let reason = "by hand".to_owned();
            operator.discard_dead_letter(letter.id, reason, context).await
        };
        weather.note(&format!("{action:?} {number} of {}: {done:?}", letter.ticket));
    });
}
