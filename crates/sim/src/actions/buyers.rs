//! People who buy, ask again, and look at their results.

use seckill_flow::{Progress as FlowProgress, PurchaseResult, Queued, Wish};
use seckill_sale::{Quantity, Refusal, RequestId, RequestKey};

use super::{activity_id, any_sale, ears, plain_ticket, user_id};
use crate::auditor::{Answer, End, Progress, Replay, TicketNumber};
use crate::world::World;

/// Keys that one buyer uses.
const KEYS: u64 = 3;

/// A buyer asks, often one who has asked before.
pub(super) fn buy(world: &mut World) {
    let activity = any_sale(world);
    let user = format!("u{}", world.random.below(world.scenario.users));
    let key = world.random.below(KEYS);
    // A key mostly comes with the same quantity.
    let quantity = match world.random.below(10) {
        0 => world.random.between(1, 3),
        _ => 1 + key % 2,
    };
    buy_one(world, activity, &user, key, quantity);
}

/// This very request.
pub(crate) fn buy_one(world: &mut World, activity: i64, user: &str, key: u64, quantity: u64) {
    let core = world.random.index(world.process().purchases.len());
    let purchase = world.process().purchases[core].clone();
    let (auditor, weather) = ears(world);
    let number = world.number();
    let digest = digest_of(key);
    let wish = Wish {
        activity: activity_id(activity),
        user: user_id(user),
        quantity: Quantity::new(quantity).expect("a small number"),
        key: RequestKey(digest),
        request_id: RequestId::from_bits(number),
        challenge_met: true,
        rates: Vec::new(),
    };
    let name = format!("buy {number}: {user} wants {quantity} of {activity} by key {key}");
    let asked = auditor
        .borrow_mut()
        .asked(activity, user, &digest, quantity.cast_signed());
    world.errand(name, async move {
        let answer = purchase.purchase(wish).await;
        let answer = plain_answer(answer);
        weather.note(&format!("buy {number}: {answer:?}"));
        auditor.borrow_mut().answered(asked, answer);
    });
}

/// A key in the form that the store keeps.
fn digest_of(key: u64) -> [u8; 16] {
    let mut digest = [0; 16];
    digest[..8].copy_from_slice(&key.to_le_bytes());
    digest
}

/// A buyer whom the gate refuses now, since the sale is paused or over, hears the ticket of this very request where there is one.
pub(super) fn replay(world: &mut World) {
    let activity = any_sale(world);
    let user = format!("u{}", world.random.below(world.scenario.users));
    let key = world.random.below(KEYS);
    let quantity = 1 + key % 2;
    let (purchase, store) = (world.process().purchases[0].clone(), world.process().store.clone());
    let (auditor, weather) = ears(world);
    let number = world.number();
    let name = format!("replay {number}: {user} and {quantity} of {activity} by key {key}");
    let began = auditor.borrow().looks();
    world.errand(name, async move {
        let (id, lost) = (activity_id(activity), weather.replies_lost());
        let wanted = Quantity::new(quantity).expect("a small number");
        let key = RequestKey(digest_of(key));
        let seen = purchase.replay(id, &user_id(&user), key, wanted).await;
        weather.note(&format!("replay {number}: {seen:?}"));
        let replay = Replay {
            activity,
            user,
            key: key.0,
            quantity: quantity.cast_signed(),
            began,
            seen: seen.map(|queued| plain_ticket(queued.ticket)),
            is_sure: lost == weather.replies_lost() && store.knows(id),
        };
        auditor.borrow_mut().replayed(replay);
    });
}

fn plain_answer(answer: Result<Queued, Refusal>) -> Answer {
    let refusal = match answer {
        Ok(queued) => {
            return Answer::Queued {
                ticket: plain_ticket(queued.ticket),
                replayed: queued.replayed,
            };
        }
        Err(refusal) => refusal,
    };
    match refusal {
        Refusal::AlreadyTook(buyer) => Answer::AlreadyTook {
            ticket: plain_ticket(buyer.ticket),
            user: buyer.user.as_str().to_owned(),
            key: buyer.key.0.to_vec(),
            quantity: buyer.quantity.get().cast_signed(),
        },
        Refusal::KeyReused => Answer::KeyReused,
        Refusal::SoldOut => Answer::SoldOut,
        Refusal::NotStarted { .. } => Answer::NotStarted,
        Refusal::Ended => Answer::Ended,
        Refusal::Paused { .. } => Answer::Paused,
        Refusal::QuantityAboveLimit => Answer::AboveLimit,
        Refusal::BacklogFull => Answer::Nothing("backlog full"),
        Refusal::NotReady(reason) => Answer::Nothing(reason.as_str()),
        Refusal::Busy | Refusal::Late => Answer::Nothing("busy"),
        Refusal::OutcomeUnknown => Answer::Nothing("unknown"),
        _ => Answer::Nothing("not a store's refusal"),
    }
}

/// A buyer looks at his result.
pub(super) fn look(world: &mut World) {
    let activity = any_sale(world);
    let user = format!("u{}", world.random.below(world.scenario.users));
    let results = world.process().results.clone();
    let (auditor, weather) = ears(world);
    let number = world.number();
    let name = format!("look {number}: {user} at {activity}");
    let began = auditor.borrow().looks();
    world.errand(name, async move {
        let seen = results.of(activity_id(activity), &user_id(&user)).await;
        weather.note(&format!("look {number}: {seen:?}"));
        if let Ok(seen) = seen {
            auditor
                .borrow_mut()
                .looked(activity, &user, began, seen.map(progress_of));
        }
    });
}

/// A result in plain words.
pub(crate) fn progress_of(result: PurchaseResult) -> (TicketNumber, Progress) {
    let progress = match result.progress {
        FlowProgress::Queued { ahead, .. } => Progress::Queued { ahead },
        FlowProgress::Succeeded { order_no } => Progress::Ended(End::Succeeded {
            order_no: order_no.to_string(),
        }),
        FlowProgress::Failed { reason } => Progress::Ended(End::Failed {
            reason: reason.as_str(),
        }),
    };
    (plain_ticket(result.ticket), progress)
}
