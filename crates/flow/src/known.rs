//! Every buyer that the ledger knows, as a store takes him up.

use seckill_ledger::{LedgerRecord, PageRequest, RecordState};
use seckill_sale::{ActivityId, Restored, TicketState};

use crate::{Error, Operator};

/// What the ledger's records say.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) buyers: Vec<Restored>,
    pub(crate) sequence_max: u64,
    pub(crate) units_dead: u64,
}

impl Operator {
    /// Every record of the ledger, as buyers to be put back.
    pub(crate) async fn known(&self, id: ActivityId) -> Result<Known, Error> {
        let mut known = Known::default();
        let mut cursor = None;
        loop {
            let request = PageRequest {
                cursor,
                limit: PageRequest::LIMIT_MAX,
            };
            let page = self.layers.ledger.records(id, request).await?;
            for record in page.rows {
                known.sequence_max = known.sequence_max.max(record.ticket.sequence);
                if record.state == RecordState::Parked {
                    known.units_dead += record.quantity.get();
                }
                known.buyers.push(self.restored(record).await?);
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(known);
            }
        }
    }

    async fn restored(&self, record: LedgerRecord) -> Result<Restored, Error> {
        let state = match record.state {
            RecordState::Parked => TicketState::Dead,
            RecordState::Succeeded => TicketState::Succeeded,
            RecordState::Failed(reason) => TicketState::Failed(reason),
        };
        // A dead letter may be retried: the request that bought must still be found in the worker's log then.
        let letter = match state {
            TicketState::Dead => self.layers.ledger.dead_letter_of(record.ticket).await?,
            _ => None,
        };
        Ok(Restored {
            user: record.user,
            key: record.key,
            quantity: record.quantity,
            sequence: record.ticket.sequence,
            epoch: record.ticket.epoch,
            accepted_at: record.accepted_at,
            state,
            attempts: 0,
            request_id: letter.map(|letter| letter.request_id),
            dead_reason: record.parked_reason,
        })
    }
}
