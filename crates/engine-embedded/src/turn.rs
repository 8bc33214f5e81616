//! One turn of the sequencer: executes commands against the state and gathers their records into one frame.

use std::collections::BTreeSet;
use std::sync::Arc;

use seckill_queue::{Verdict, Verdicts};
use seckill_sale::{
    ActivityId, Claim, Claimed, Decision, EpochMs, Event, NotReady, Refusal, Sale, Terms, Ticket, WaitsMax,
};
use seckill_stock::{Answer, Reserved};

use crate::Error;
use crate::backlog::Backlog;
use crate::codec::{Record, encode, encode_event};
use crate::command::Command;
use crate::journal::Journal;
use crate::replies::Replies;
use crate::state::State;
use crate::storage::Storage;

/// What the disk has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    /// Everything.
    Enough,
    /// What was kept back for results; no admission.
    ResultsOnly,
    /// Nothing that writes.
    Full,
}

/// Limits of a turn.
#[derive(Debug)]
pub(crate) struct Limits {
    /// Tickets that may wait, over all sales, and whose no more.
    pub(crate) backlog: Backlog,
    /// Sales whose state is one of another sale that had the number.
    pub(crate) others: Arc<BTreeSet<ActivityId>>,
    /// How long tickets may wait.
    pub(crate) waits: WaitsMax,
    /// Largest frame.
    pub(crate) frame_bytes_max: usize,
}

pub(crate) struct Turn {
    pub(crate) now: EpochMs,
    pub(crate) space: Space,
    backlog: Backlog,
    others: Arc<BTreeSet<ActivityId>>,
    waits: WaitsMax,
    pub(crate) frame_bytes_max: usize,
    pub(crate) frame: Vec<u8>,
    /// A sale may have come or gone.
    sales_changed: bool,
    newest_accepted_at: Option<EpochMs>,
    /// A frame written in the middle of the turn has failed: nothing more may be promised.
    failed: bool,
}

impl Turn {
    pub(crate) fn new(now: EpochMs, space: Space, limits: Limits, mut frame: Vec<u8>) -> Self {
        frame.clear();
        let Limits {
            backlog,
            others,
            waits,
            frame_bytes_max,
        } = limits;
        Self {
            now,
            space,
            backlog,
            others,
            waits,
            frame_bytes_max,
            frame,
            sales_changed: false,
            newest_accepted_at: None,
            failed: false,
        }
    }

    /// Whether a sale may have come or gone.
    pub(crate) const fn sales_changed(&self) -> bool {
        self.sales_changed
    }

    pub(crate) const fn newest_accepted_at(&self) -> Option<EpochMs> {
        self.newest_accepted_at
    }

    pub(crate) fn into_frame(self) -> Vec<u8> {
        self.frame
    }

    /// Writes what was gathered; false where it is not known to be durable.
    pub(crate) fn commit<S: Storage>(&mut self, journal: &mut Journal<S>) -> bool {
        if self.failed || journal.is_broken() {
            return false;
        }
        if self.frame.is_empty() {
            return true;
        }
        let outcome = journal.commit(&self.frame);
        self.frame.clear();
        self.failed = outcome
            .inspect_err(|error| tracing::error!(%error, "a batch could not be written"))
            .is_err();
        !self.failed
    }

    pub(crate) fn execute<S: Storage>(
        &mut self,
        command: Command,
        state: &mut State,
        journal: &mut Journal<S>,
        replies: &mut Replies,
    ) {
        self.backlog.changes_by(&command);
        match command {
            command if self.space == Space::Full && command.only_writes() => command.refuse(replies),
            Command::Claim(claims, reply) => replies.claims(reply, self.claim_all(&claims, state)),
            // Only durable tickets leave: the reply waits for the frame as all do.
            Command::Take(count, reply) => {
                replies.add(reply, Ok(state.take(self.now, self.waits, count, &self.others)));
            }
            Command::Record(verdicts, reply) => replies.add(reply, self.record(verdicts, state)),
            Command::Revive(ticket, reply) => {
                self.apply(
                    ticket.activity,
                    &Event::Revived {
                        sequence: ticket.sequence,
                    },
                    state,
                );
                replies.add(reply, Ok(()));
            }
            Command::Open(opening, reply) => replies.add(reply, self.open(*opening, state, journal)),
            Command::Rebase(rebase, reply) => replies.add(reply, self.rebase(rebase, state)),
            Command::Change(terms, reply) => replies.add(reply, self.change(terms, state)),
            Command::Hold(activity, hold, reply) => replies.add(reply, self.hold(activity, hold, state)),
            Command::Release(activity, hold, reply) => {
                self.release(activity, hold, state);
                replies.add(reply, Ok(()));
            }
            Command::KeepSwitches {
                instead_of,
                switches,
                reply,
            } => replies.add(reply, self.keep_switches(&instead_of, switches, state)),
            Command::Switches(reply) => replies.add(reply, Ok(state.kept_switches())),
            Command::Permit(key, max, until, reply) => replies.add(reply, self.permit(key, max, until, state)),
            Command::Move {
                activity,
                movement,
                delta,
                reply,
            } => {
                let event = Event::Moved { movement, delta };
                replies.add(reply, self.apply_known(activity, &event, state));
            }
            Command::Forget(activity, reply) => {
                self.put(&Record::Forgotten(activity), state);
                replies.add(reply, Ok(()));
            }
            Command::Erase(activity, user, reply) => {
                let known = state
                    .sale(activity)
                    .is_some_and(|sale| sale.view().buyer(&user).is_some());
                self.apply(activity, &Event::Erased { user }, state);
                replies.add(reply, Ok(known));
            }
            Command::Buyer(activity, user, reply) => {
                replies.add(reply, Ok(state.sale(activity).and_then(|sale| sale.buyer(&user))));
            }
            Command::Figures(activity, reply) => replies.add(reply, Ok(state.sale(activity).map(Sale::figures))),
            Command::DeadLetters(activity, reply) => {
                replies.add(
                    reply,
                    Ok(state.sale(activity).map(Sale::dead_letters).unwrap_or_default()),
                );
            }
            Command::Activities(reply) => replies.add(reply, Ok(state.sales().map(|(activity, _)| activity).collect())),
        }
    }

    fn claim_all(&mut self, claims: &[Claim], state: &mut State) -> Vec<Answer> {
        claims.iter().map(|claim| self.claim(claim, state)).collect()
    }

    fn claim(&mut self, claim: &Claim, state: &mut State) -> Answer {
        let Some(sale) = state.sale(claim.activity) else {
            return Err(Refusal::NotReady(NotReady::NotPreheated));
        };
        if self.is_of_another(claim.activity) {
            return Err(Refusal::NotReady(NotReady::Recovering));
        }
        let room = self.backlog.room(sale, state);
        let claimed = match sale.decide(claim, self.now, room) {
            Decision::Replay(buyer) => {
                return Ok(Reserved {
                    ticket: buyer.ticket,
                    accepted_at: buyer.accepted_at,
                    replayed: true,
                });
            }
            Decision::Refuse(refusal) => return Err(refusal),
            Decision::Admit(_) if self.space != Space::Enough => return Err(Refusal::NotReady(NotReady::StoreFull)),
            Decision::Admit(claimed) => claimed,
        };
        let epoch = sale.epoch();
        let Claimed {
            sequence, accepted_at, ..
        } = claimed;
        let before = sale.in_queue();
        self.apply(claim.activity, &Event::Claimed(claimed), state);
        self.backlog.admitted(before, claim.activity, state);
        self.newest_accepted_at = Some(self.now);
        Ok(Reserved {
            ticket: Ticket {
                activity: claim.activity,
                epoch,
                sequence,
            },
            accepted_at,
            replayed: false,
        })
    }

    fn record(&mut self, verdicts: Verdicts, state: &mut State) -> Result<(), Error> {
        for (ticket, verdict) in verdicts.tickets {
            let (activity, sequence) = (ticket.activity, ticket.sequence);
            let event = match verdict {
                Verdict::Conclude(conclusion) => Event::Concluded { sequence, conclusion },
                Verdict::Retry { attempts, not_before } => Event::Retried {
                    sequence,
                    attempts,
                    not_before,
                },
                Verdict::Bury { reason } => Event::Buried { sequence, reason },
                Verdict::GiveBack { not_before } => {
                    if let Some(sale) = state.sale_mut(activity) {
                        sale.give_back(sequence, not_before);
                    }
                    continue;
                }
            };
            self.apply(activity, &event, state);
        }
        if state.acknowledged() < verdicts.settled_batch {
            let record = Record::Acknowledged(verdicts.settled_batch);
            encode(&mut self.frame, &record);
            state.apply(&record);
        }
        Ok(())
    }

    fn change(&mut self, terms: Terms, state: &mut State) -> Result<(), Error> {
        let is_so = state.sale(terms.activity).is_some_and(|sale| *sale.terms() == terms);
        if is_so && !self.is_of_another(terms.activity) {
            return Ok(());
        }
        self.apply_known(terms.activity, &Event::Changed(terms), state)
    }

    pub(crate) fn apply_known(&mut self, activity: ActivityId, event: &Event, state: &mut State) -> Result<(), Error> {
        if state.sale(activity).is_none() {
            return Err(Error::NotReady(NotReady::NotPreheated));
        }
        if self.is_of_another(activity) {
            return Err(Error::NotReady(NotReady::Recovering));
        }
        self.apply(activity, event, state);
        Ok(())
    }

    fn is_of_another(&self, activity: ActivityId) -> bool {
        self.others.contains(&activity)
    }

    /// Applies an event of a sale that has a state, and gathers it.
    pub(crate) fn apply(&mut self, activity: ActivityId, event: &Event, state: &mut State) {
        if state.sale(activity).is_none() {
            return;
        }
        encode_event(&mut self.frame, activity, event);
        state.apply_event(activity, event);
    }

    /// Gathers a record by which a sale comes or goes.
    pub(crate) fn put(&mut self, record: &Record, state: &mut State) {
        encode(&mut self.frame, record);
        state.apply(record);
        self.sales_changed = true;
    }
}
