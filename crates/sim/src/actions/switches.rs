//! Switches, in the order in which an operator's change goes: the store keeps them, the ledger gets them, the store lets go of them. What the
//! switches say is the gate's business.

use seckill_stock::Brake as _;

use super::{ears, operator_context};
use crate::world::World;

pub(super) fn set(world: &mut World) {
    let (operator, store) = (world.process().operator.clone(), world.process().store.clone());
    let (context, (auditor, weather)) = (operator_context(world), ears(world));
    let number = world.number();
    world.errand(format!("switches {number}"), async move {
        let ledger = &operator.layers().ledger;
        // Where the ledger can't be read, the store keeps them all the same.
        let stored = ledger.switches().await.unwrap_or_default();
        let revision = stored.map_or(0, |stored| stored.revision);
        let json = format!("{{\"number\":{number}}}");
        let before = store.kept_switches().await.unwrap_or_default();
        let wanted = Some(json.clone());
        let asked = auditor.borrow_mut().keep_asked(wanted.clone());
        let kept = store.keep_switches(before, wanted.clone()).await;
        weather.note(&format!("switches {number}: kept {kept:?}"));
        auditor.borrow_mut().keep_told(asked, kept.as_ref() == Ok(&wanted));
        let set = ledger.set_switches(json.clone(), revision, context).await;
        weather.note(&format!("switches {number} on {revision}: {set:?}"));
        let Ok(revision) = set else { return };
        auditor.borrow_mut().switches_told(revision, json);
        let asked = auditor.borrow_mut().keep_asked(None);
        let let_go = store.keep_switches(wanted, None).await;
        auditor.borrow_mut().keep_told(asked, let_go == Ok(None));
    });
}

/// Somebody asks the store which switches it keeps.
pub(crate) fn read(world: &mut World) {
    let store = world.process().store.clone();
    let (auditor, weather) = ears(world);
    let began = auditor.borrow().looks();
    world.errand("kept switches".to_owned(), async move {
        let seen = store.kept_switches().await;
        weather.note(&format!("kept switches: {seen:?}"));
        if let Ok(seen) = seen {
            auditor.borrow_mut().kept_seen(began, &seen);
        }
    });
}
