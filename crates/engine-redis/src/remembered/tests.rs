//! Which readings settle what a node remembers.

use seckill_sale::{Epoch, Quantity, RequestId, RequestKey, UserId};

use super::*;

fn figures(epoch: u64, revision: u64, settled_up_to: u64) -> Figures {
    Figures {
        epoch: Epoch::new(epoch).expect("in range"),
        stock_left: 5,
        accepted: 0,
        queued: 0,
        dead: 0,
        queued_tickets: 0,
        leased_tickets: 0,
        settled_up_to,
        dead_tickets: 0,
        oldest_accepted_at: None,
        applied_movement: 0,
        next_sequence: settled_up_to + 1,
        revision,
    }
}

fn ticket(activity: ActivityId, sequence: u64) -> Delivery {
    Delivery {
        ticket: Ticket {
            activity,
            epoch: Epoch::FIRST,
            sequence,
        },
        user: UserId::new("a").expect("valid"),
        quantity: Quantity::ONE,
        key: RequestKey([0; 16]),
        accepted_at: EpochMs(0),
        request_id: RequestId::from_bits(1),
        attempts: 0,
        deliveries: 0,
    }
}

/// A reading that was on its way when the ticket was adopted knows nothing of it, and nothing waits in it.
#[test]
fn a_reading_from_before_a_ticket_was_adopted_does_not_settle_it() {
    let activity = ActivityId::new(7).expect("in range");
    let place = Place::whole(activity);
    let remembered = Remembered::default();
    let adopted = figures(2, 4, 6);
    remembered.answered(place, &adopted, &ticket(activity, 7), Adopted::Waits);
    remembered.settled(place, &figures(2, 3, 1_000_000_000));
    remembered.note_created(place, Some(EpochMs(5)));
    let orphans = Orphans {
        tickets: vec![ticket(activity, 7)],
        created_at: Some(EpochMs(5)),
    };
    assert_eq!(
        remembered.orphans(|_| Some(3)),
        [orphans],
        "its state is lost: it is offered, as one of its sale"
    );
    remembered.answered(place, &figures(3, 1, 6), &ticket(activity, 7), Adopted::Waits);
    remembered.settled(place, &figures(3, 2, 2_000_000_000));
    assert_eq!(remembered.orphans(|_| Some(4)), [], "it is settled");
}
