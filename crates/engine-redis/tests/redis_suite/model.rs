//! Random histories, played on the engine and on the state machine of `sale`: every answer and figure is the same.

mod changes;

use std::sync::Arc;

use seckill_queue::Queue;
use seckill_sale::{Claim, Decision, Event, Figures, ManualClock, Refusal, Sale, Ticket};
use seckill_stock::conformance::Fixture;
use seckill_stock::{OpenOutcome, Reserved, Stock};

use crate::support::{Mode, Running};

/// Tickets that may wait.
const BACKLOG_MAX: u64 = 12;

/// Splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

struct Play {
    running: Running,
    clock: Arc<ManualClock>,
    model: Sale,
    random: Random,
    movement: u64,
}

impl Play {
    fn start(seed: u64) -> Self {
        let clock = Arc::new(ManualClock::at(Fixture::OPENS));
        let running = Running::start(Some(clock.clone()));
        running.engine.set_backlog_max(BACKLOG_MAX);
        let opening = Fixture::opening(Fixture::activity(), 20);
        let model = Sale::open(&opening.opened);
        let opened = running.block_on(running.engine.open(opening));
        assert_eq!(opened, Ok(OpenOutcome::Created));
        Self {
            running,
            clock,
            model,
            random: Random(seed),
            movement: 0,
        }
    }

    fn step(&mut self) {
        match self.random.below(12) {
            0..=3 => self.claim(),
            4..=5 => self.take(),
            6..=8 => self.record(),
            9 => self.revive(),
            10 => self
                .clock
                .advance(i64::try_from(self.random.below(40_000)).expect("small")),
            _ => self.change(),
        }
        let engine = &self.running.engine;
        let figures = self.running.block_on(engine.figures(Fixture::activity()));
        let figures = figures.expect("answers").expect("a state");
        assert_eq!(comparable(figures), comparable(self.model.figures()));
        let dead = self.running.block_on(engine.dead_letters(Fixture::activity()));
        assert_eq!(dead.expect("answers"), self.model.dead_letters());
    }

    fn claim(&mut self) {
        let random_claim = |random: &mut Random| {
            let key = u8::try_from(random.below(2)).expect("small");
            Fixture::claim(&format!("u{}", random.below(40)), key, 1 + random.below(3))
        };
        let size = 1 + self.random.below(8);
        let claims: Vec<Claim> = (0..size).map(|_| random_claim(&mut self.random)).collect();
        let expected: Vec<_> = claims.iter().map(|claim| self.decide(claim)).collect();
        assert_eq!(self.running.block_on(self.running.engine.claim(claims)), expected);
    }

    fn decide(&mut self, claim: &Claim) -> Result<Reserved, Refusal> {
        let now = seckill_sale::Clock::now(&*self.clock);
        let room = BACKLOG_MAX.saturating_sub(self.model.figures().queued_tickets);
        match self.model.decide(claim, now, room) {
            Decision::Refuse(refusal) => Err(refusal),
            Decision::Replay(buyer) => Ok(Reserved {
                ticket: buyer.ticket,
                accepted_at: buyer.accepted_at,
                replayed: true,
            }),
            Decision::Admit(claimed) => {
                let ticket = self.ticket(claimed.sequence);
                self.model.apply(&Event::Claimed(claimed));
                Ok(Reserved {
                    ticket,
                    accepted_at: now,
                    replayed: false,
                })
            }
        }
    }

    fn ticket(&self, sequence: u64) -> Ticket {
        Ticket {
            activity: Fixture::activity(),
            epoch: self.model.epoch(),
            sequence,
        }
    }

    /// What is handed out is a ticket that waits, with its own buyer.
    fn take(&mut self) {
        let count = 1 + usize::try_from(self.random.below(6)).expect("small");
        let taken = self.running.block_on(self.running.engine.take(count)).expect("answers");
        assert!(taken.len() <= count);
        for delivery in taken {
            let buyer = self.model.buyer(&delivery.user).expect("a buyer");
            assert_eq!((buyer.ticket, buyer.key), (delivery.ticket, delivery.key));
            assert_eq!(
                (buyer.quantity, buyer.accepted_at),
                (delivery.quantity, delivery.accepted_at)
            );
            assert_eq!(buyer.state, seckill_sale::TicketState::Queued);
        }
    }
}

/// Leases and revisions are each engine's own.
fn comparable(figures: Figures) -> Figures {
    Figures {
        leased_tickets: 0,
        revision: 0,
        ..figures
    }
}

#[test]
fn random_histories_end_as_the_state_machine_says() {
    // What the servers are costs time and changes no rule.
    let seeds = if matches!(crate::MODE, Mode::Standalone) { 6 } else { 1 };
    for seed in 0..seeds {
        let mut play = Play::start(seed);
        for _ in 0..300 {
            play.step();
        }
        // Whoever still waits can be taken, once, when every lease and retry is over.
        play.clock.advance(600_000);
        let mut taken = Vec::new();
        let engine = play.running.engine.clone();
        loop {
            let batch = play.running.block_on(engine.take(5)).expect("answers");
            if batch.is_empty() {
                break;
            }
            taken.extend(batch.into_iter().map(|delivery| delivery.ticket.sequence));
        }
        let handed_out = taken.len() as u64;
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(
            (taken.len() as u64, handed_out),
            (handed_out, play.model.figures().queued_tickets),
            "seed {seed}"
        );
        let figures = play
            .running
            .block_on(engine.figures(Fixture::activity()))
            .expect("answers");
        assert_eq!(
            figures.map(|figures| figures.leased_tickets),
            Some(handed_out),
            "seed {seed}"
        );
    }
}
