//! People who pay or give up their orders, and a provider who repeats himself.

use seckill_ledger::{PaidOutcome, Payment};
use seckill_sale::{Currency, EpochMs, OrderNo};

use super::{ears, user_id};
use crate::world::World;

/// An order out of the rows.
struct Chosen {
    number: OrderNo,
    user: String,
    amount: u64,
}

fn choose(world: &mut World) -> Option<Chosen> {
    let orders = world
        .auditor
        .borrow()
        .books()
        .orders
        .values()
        .cloned()
        .collect::<Vec<_>>();
    if orders.is_empty() {
        return None;
    }
    let order = world.random.pick(&orders).clone();
    Some(Chosen {
        // Numbers that a planted fault has spoiled are no numbers.
        number: order.order_no.parse().ok()?,
        user: order.user,
        amount: order.amount.unsigned_abs(),
    })
}

/// Money arrives: once, again, in another amount, or a second time under another id.
pub(super) fn pay(world: &mut World) {
    let Some(order) = choose(world) else { return };
    let id = match world.random.below(4) {
        0 => format!("again-{}", order.number),
        _ => format!("pay-{}-{}", order.number, world.random.below(2)),
    };
    let wrong = u64::from(world.random.chance(50));
    let payment = Payment {
        id: id.clone(),
        order_no: order.number,
        user: world.random.chance(500).then(|| user_id(&order.user)),
        amount_cents: order.amount + wrong,
        currency: Currency::new("CNY").expect("three capitals"),
        received_at: EpochMs(world.now_ms()),
    };
    let operator = world.process().operator.clone();
    let (auditor, weather) = ears(world);
    world.errand(format!("pay {id}"), async move {
        let outcome = operator.pay(payment).await;
        let paid = match &outcome {
            Ok(PaidOutcome::Paid(_)) => Some(true),
            Ok(PaidOutcome::RefundRequired(_)) => Some(false),
            Err(_) => None,
        };
        weather.note(&format!("pay {id}: {paid:?}"));
        if let Some(paid) = paid {
            let mut auditor = auditor.borrow_mut();
            if wrong == 0 {
                auditor.payment_told(&id, paid);
            } else {
                auditor.fail("a wrong amount is refused", id);
            }
        }
    });
}

pub(super) fn cancel(world: &mut World) {
    let Some(order) = choose(world) else { return };
    let operator = world.process().operator.clone();
    let now = EpochMs(world.now_ms());
    let (_, weather) = ears(world);
    world.errand(format!("cancel {}", order.number), async move {
        let done = operator.cancel(order.number, &user_id(&order.user), now).await;
        let done = done.map(|cancelled| cancelled.movement);
        weather.note(&format!("cancel {}: {done:?}", order.number));
    });
}
