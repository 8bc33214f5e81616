//! Records of the journal as bytes: a kind, an activity, the fields as variable-length integers and length-prefixed texts.
//!
//! A payload of the journal is a sequence of records. Kinds are never reused; an unknown kind refuses the start.

mod decode;
mod encode;
mod input;

use seckill_sale::{ActivityId, Event};

pub(crate) use decode::decode_all;
pub(crate) use encode::{encode, encode_event};

use crate::permits::Permitted;

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Record {
    /// Something happened to a sale.
    Event(ActivityId, Event),
    /// All events that build a sale's state were written: from here on it is there. Without this record it is not.
    Built(ActivityId),
    /// The sale's state was dropped.
    Forgotten(ActivityId),
    /// The ledger's settlement batches up to this one were acknowledged.
    Acknowledged(u64),
    /// Switches that an operator has set and the ledger may not have yet; empty: it has them.
    Switched(String),
    /// Permits of a key were taken.
    Permitted(Permitted),
}

/// Why bytes are not a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a record of this version: {0}")]
pub(crate) struct DecodeError(&'static str);

mod kind {
    pub(super) const OPENED: u8 = 1;
    pub(super) const RESTORED: u8 = 2;
    pub(super) const CLAIMED: u8 = 3;
    pub(super) const CONCLUDED: u8 = 4;
    pub(super) const RETRIED: u8 = 5;
    pub(super) const BURIED: u8 = 6;
    pub(super) const REVIVED: u8 = 7;
    pub(super) const REQUEUED: u8 = 8;
    pub(super) const MOVED: u8 = 9;
    pub(super) const CHANGED: u8 = 10;
    pub(super) const REBASED: u8 = 11;
    pub(super) const ERASED: u8 = 12;
    pub(super) const BUILT: u8 = 13;
    pub(super) const FORGOTTEN: u8 = 14;
    pub(super) const ACKNOWLEDGED: u8 = 15;
    pub(super) const HELD: u8 = 16;
    pub(super) const RELEASED: u8 = 17;
    pub(super) const SWITCHED: u8 = 18;
    pub(super) const PERMITTED: u8 = 19;
    /// As `OPENED` and `CHANGED`, with the moment at which the sale was created behind its rules.
    pub(super) const OPENED_OF: u8 = 20;
    pub(super) const CHANGED_OF: u8 = 21;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use seckill_sale::{
        Claimed, Conclusion, Epoch, EpochMs, FailureReason, Hold, Opened, Quantity, RequestId, RequestKey, Restored,
        Status, Terms, TicketState, UnitTo, UserId, Window,
    };

    use super::*;

    fn terms(activity: ActivityId, start: i64, status: Status) -> Terms {
        let window = Window {
            starts_at: EpochMs(start),
            ends_at: EpochMs(start.saturating_add(1)),
        };
        Terms {
            activity,
            window,
            per_user_limit: Quantity::ONE,
            status,
            // Those of an earlier version don't say it.
            created_at: (status != Status::Running).then_some(EpochMs(start)),
        }
    }

    /// Events that come in every status, conclusion and state.
    fn varied(activity: ActivityId, number: u64, signed: i64, user: &UserId, reason: &str) -> Vec<Event> {
        let key = RequestKey([3; 16]);
        let conclusions = FailureReason::ALL.into_iter().flat_map(|reason| {
            [None, Some(UnitTo::Sale), Some(UnitTo::Product)].map(|unit_to| Conclusion::Failed { reason, unit_to })
        });
        let states = [TicketState::Queued, TicketState::Dead, TicketState::Succeeded]
            .into_iter()
            .chain(FailureReason::ALL.map(TicketState::Failed));
        let restored = |state| Restored {
            user: user.clone(),
            key,
            quantity: Quantity::ONE,
            sequence: number,
            epoch: Epoch::FIRST,
            accepted_at: EpochMs(signed),
            state,
            attempts: 3,
            request_id: Some(RequestId::from_bits(number)),
            dead_reason: reason.to_owned(),
        };
        let statuses = [Status::Draft, Status::Running, Status::Paused, Status::Closed];
        let mut events: Vec<Event> = statuses
            .map(|status| Event::Changed(terms(activity, signed, status)))
            .to_vec();
        events.extend(conclusions.map(|conclusion| Event::Concluded {
            sequence: number,
            conclusion,
        }));
        events.extend(states.map(|state| Event::Restored(Box::new(restored(state)))));
        events
    }

    fn records(activity: u64, number: u64, signed: i64, user: &str, reason: &str) -> Vec<Record> {
        let activity = ActivityId::new(activity).expect("in range");
        let user = UserId::new(user).expect("valid");
        let key = RequestKey([number as u8; 16]);
        let mut events = varied(activity, number, signed, &user, reason);
        events.extend([
            Event::Concluded {
                sequence: number,
                conclusion: Conclusion::Succeeded,
            },
            Event::Claimed(Claimed {
                sequence: number,
                user: user.clone(),
                key,
                quantity: Quantity::ONE,
                accepted_at: EpochMs(signed),
                request_id: RequestId::from_bits(number),
            }),
            Event::Retried {
                sequence: number,
                attempts: 7,
                not_before: EpochMs(signed),
            },
            Event::Buried {
                sequence: number,
                reason: reason.to_owned(),
            },
            Event::Revived { sequence: number },
            Event::Requeued { user: user.clone() },
            Event::Moved {
                movement: number,
                delta: signed,
            },
            Event::Rebased {
                epoch: Epoch::FIRST,
                left: number,
                applied_movement: number,
            },
            Event::Erased { user },
            Event::Released,
        ]);
        events.extend([Status::Running, Status::Draft].map(|status| {
            Event::Opened(Opened {
                terms: terms(activity, signed, status),
                epoch: Epoch::FIRST,
                left: number,
                next_sequence: number,
                applied_movement: number,
            })
        }));
        events.extend([None, Some(EpochMs(signed))].map(|resumes_at| {
            let held_at = EpochMs(signed);
            Event::Held(Hold { held_at, resumes_at })
        }));
        let mut records: Vec<_> = events.into_iter().map(|event| Record::Event(activity, event)).collect();
        records.extend([
            Record::Built(activity),
            Record::Forgotten(activity),
            Record::Acknowledged(number),
            Record::Switched(reason.to_owned()),
            Record::Permitted(Permitted {
                key: [number as u8; 16],
                taken: number as u32,
                until: EpochMs(signed),
                at: EpochMs(signed.wrapping_neg()),
            }),
        ]);
        records
    }

    proptest! {
        #[test]
        fn every_record_reads_back_as_written(activity in 1..ActivityId::MAX, number: u64, signed: i64, user in "[A-Za-z0-9._:@-]{1,64}", reason: String) {
            let records = records(activity, number, signed, &user, &reason);
            let mut payload = Vec::new();
            records.iter().for_each(|record| encode(&mut payload, record));
            let mut read = Vec::new();
            prop_assert_eq!(decode_all(&payload, |record| read.push(record)), Ok(()));
            prop_assert_eq!(read, records);
        }

        #[test]
        fn bytes_that_are_no_records_are_an_error_and_never_a_panic(payload: Vec<u8>) {
            let _ = decode_all(&payload, |_| ());
        }
    }
}
