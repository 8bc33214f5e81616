//! Steps of a history that change what is there: verdicts, movements, holds, rules.

use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{Clock, Conclusion, Event, FailureReason, Hold, Quantity, Status, Terms, UnitTo};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Brake, Rebase, Stock};

use super::Play;

impl Play {
    pub(super) fn record(&mut self) {
        let size = 1 + self.random.below(5);
        let tickets: Vec<_> = (0..size)
            .map(|_| {
                let sequence = 1 + self.random.below(self.model.figures().next_sequence);
                (self.ticket(sequence), self.verdict())
            })
            .collect();
        for (ticket, verdict) in &tickets {
            let sequence = ticket.sequence;
            match verdict.clone() {
                Verdict::Conclude(conclusion) => self.model.apply(&Event::Concluded { sequence, conclusion }),
                Verdict::Retry { attempts, not_before } => self.model.apply(&Event::Retried {
                    sequence,
                    attempts,
                    not_before,
                }),
                Verdict::GiveBack { not_before } => self.model.give_back(sequence, not_before),
                Verdict::Bury { reason } => self.model.apply(&Event::Buried { sequence, reason }),
            }
        }
        let verdicts = Verdicts {
            tickets,
            settled_batch: 0,
        };
        assert_eq!(self.running.block_on(self.running.engine.record(verdicts)), Ok(()));
    }

    fn verdict(&mut self) -> Verdict {
        let not_before = self.clock.now().plus(1_000);
        let failed = |reason, unit_to| Verdict::Conclude(Conclusion::Failed { reason, unit_to });
        match self.random.below(7) {
            0 | 1 => Verdict::Conclude(Conclusion::Succeeded),
            2 => failed(FailureReason::Discarded, Some(UnitTo::Sale)),
            3 => failed(FailureReason::StoreOversold, None),
            4 => Verdict::Retry {
                attempts: 2,
                not_before,
            },
            5 => Verdict::GiveBack { not_before },
            _ => Verdict::Bury {
                reason: "no such product: 7 of 9".to_owned(),
            },
        }
    }

    pub(super) fn revive(&mut self) {
        let sequence = 1 + self.random.below(self.model.figures().next_sequence);
        self.model.apply(&Event::Revived { sequence });
        let ticket = self.ticket(sequence);
        assert_eq!(self.running.block_on(self.running.engine.revive(ticket)), Ok(()));
    }

    pub(super) fn change(&mut self) {
        let activity = Fixture::activity();
        let hold = Hold {
            held_at: Fixture::OPENS,
            resumes_at: None,
        };
        let engine = self.running.engine.clone();
        let (event, done) = match self.random.below(5) {
            0 => {
                self.movement += self.random.below(2);
                let (movement, delta) = (self.movement, 2);
                let done = self.running.block_on(engine.apply_movement(activity, movement, delta));
                (Event::Moved { movement, delta }, done)
            }
            1 => (Event::Held(hold), self.running.block_on(engine.hold(activity, hold))),
            2 => (Event::Released, self.running.block_on(engine.release(activity, hold))),
            3 => {
                let terms = Terms {
                    per_user_limit: Quantity::new(1 + self.random.below(3)).expect("in range"),
                    status: [Status::Running, Status::Paused][usize::from(self.random.below(4) == 0)],
                    ..Fixture::terms(activity)
                };
                (Event::Changed(terms), self.running.block_on(engine.change(terms)))
            }
            _ => return self.requeue(),
        };
        assert_eq!(done, Ok(()));
        self.model.apply(&event);
    }

    /// The ledger lacks the result of a buyer who has one.
    fn requeue(&mut self) {
        let user = Fixture::claim(&format!("u{}", self.random.below(40)), 0, 1).user;
        let rebase = Rebase {
            activity: Fixture::activity(),
            epoch: self.model.epoch(),
            left: self.model.figures().stock_left,
            applied_movement: self.movement,
            may_rise: true,
            requeue: vec![user.clone()],
        };
        assert_eq!(self.running.block_on(self.running.engine.rebase(rebase)), Ok(()));
        self.model.apply(&Event::Requeued { user });
    }
}
