//! One run: steps drawn from the seed, until they are used up or a promise is seen broken.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rusqlite::Connection;
use seckill_ledger_sql::{Options, Sqlite, Threads};
use seckill_sale::{Clock, ManualClock};

use crate::actions;
use crate::auditor::{Auditor, Books};
use crate::disk::Disk;
use crate::executor::{Kind, Tasks};
use crate::fault::Fault;
use crate::house::{Ground, Process};
use crate::ledger::drop_unique;
use crate::random::Random;
use crate::scenario::{BEGINS, Scenario};
use crate::weather::Weather;

/// Errands that may run at once.
const ERRANDS_MAX: usize = 24;

/// How a process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Death {
    /// What it had written is still with the system.
    Killed,
    /// What was not synced is kept or lost at random.
    PowerLoss,
}

/// Everything of one run.
pub(crate) struct World {
    pub(crate) random: Random,
    pub(crate) scenario: Scenario,
    pub(crate) weather: Arc<Weather>,
    pub(crate) ground: Ground,
    pub(crate) tasks: Tasks,
    pub(crate) process: Option<Process>,
    pub(crate) auditor: Rc<RefCell<Auditor>>,
    /// Sales by their numbers.
    pub(crate) sales: Vec<i64>,
    /// The recurring sale, where the run has one.
    pub(crate) schedule: Option<u64>,
    /// Counts what must be told apart: payments, keys of operators.
    pub(crate) made: u64,
    changes_seen: u64,
}

impl World {
    pub(crate) fn new(seed: u64, weather: Arc<Weather>) -> Self {
        let mut random = Random::new(seed);
        let scenario = Scenario::new(&mut random);
        let options = Options {
            threads: Threads::Inline,
            ..Options::default()
        };
        let database = Sqlite::open_in_memory(&options).expect("a database in memory");
        if weather.has(Fault::DeliveredTwice) {
            let dropped = database.inspect(|connection| drop_unique(connection));
            dropped
                .expect("the ledger runs on this thread")
                .expect("the table is as it was made");
        }
        let ground = Ground {
            disk: Disk::new(random.next(), weather.clone()),
            database: Arc::new(database),
            clock: Arc::new(ManualClock::at(seckill_sale::EpochMs(BEGINS))),
            weather: weather.clone(),
        };
        Self {
            auditor: Rc::new(RefCell::new(Auditor::new(weather.clone(), BEGINS))),
            random,
            scenario,
            weather,
            ground,
            tasks: Tasks::default(),
            process: None,
            sales: Vec::new(),
            schedule: None,
            made: 0,
            changes_seen: 0,
        }
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.ground.clock.now().0
    }

    /// The running process. Steps that need one restart it first.
    pub(crate) fn process(&self) -> &Process {
        self.process.as_ref().expect("the process runs")
    }

    pub(crate) fn is_violated(&self) -> bool {
        self.auditor.borrow().violation().is_some()
    }

    /// Does so many steps.
    pub(crate) fn run(&mut self, steps: u32) {
        self.weather.set_pauses(self.scenario.pauses_permille);
        for _ in 0..steps {
            if self.is_violated() {
                return;
            }
            self.step();
            self.look();
        }
    }

    fn step(&mut self) {
        self.weather.next_step(self.now_ms());
        if self.process.is_none() {
            self.start();
            return;
        }
        // A process whose journal has failed is restarted by whoever watches it, sooner or later.
        if self.process().engine.is_broken() && self.random.chance(100) {
            self.die(Death::Killed);
            return;
        }
        match self.random.below(10) {
            0..=4 => self.poll(),
            5..=7 => self.sequence(),
            _ if ERRANDS_MAX <= self.tasks.errands().len() => self.poll(),
            _ => {
                let action = self.scenario.action(&mut self.random);
                actions::act(self, action);
            }
        }
    }

    pub(crate) fn poll(&mut self) {
        if let Some(name) = self.tasks.poll_one(&mut self.random) {
            self.weather.note(&format!("poll {name}"));
        }
    }

    /// The store does what waits for it.
    pub(crate) fn sequence(&mut self) {
        let process = self.process.as_mut().expect("the process runs");
        let did = process.sequencer.step();
        if did {
            self.weather.note("the store worked");
        }
        if !self.ground.disk.inner.has_power() {
            self.weather.note("the power failed in the middle of it");
            self.die(Death::PowerLoss);
        }
    }

    /// Polls and works until all sleep.
    pub(crate) fn settle_down(&mut self) {
        const ROUNDS_MAX: u32 = 100_000;
        for _ in 0..ROUNDS_MAX {
            self.weather.next_step(self.now_ms());
            let polled = self.tasks.poll_one(&mut self.random);
            let process = self.process.as_mut().expect("the process runs");
            let worked = polled.is_none() && process.sequencer.step();
            self.look();
            if (polled.is_none() && !worked) || self.is_violated() {
                return;
            }
        }
        self.auditor
            .borrow_mut()
            .fail("work ends", format!("{:?}", self.tasks.errands()));
    }

    /// The auditor looks at the rows where something was committed.
    pub(crate) fn look(&mut self) {
        let seen = self.changes_seen;
        let read = |connection: &mut Connection| -> rusqlite::Result<(u64, Option<Books>)> {
            let changes = connection.query_row("SELECT total_changes()", [], |row| row.get::<_, i64>(0))?;
            let changed = changes.unsigned_abs() != seen;
            let books = if changed { Some(Books::read(connection)?) } else { None };
            Ok((changes.unsigned_abs(), books))
        };
        let read = self
            .ground
            .database
            .inspect(read)
            .expect("the ledger runs on this thread");
        let (changes, books) = read.expect("the auditor's own queries fit the tables");
        self.changes_seen = changes;
        if let Some(books) = books {
            self.sales.extend(self.auditor.borrow_mut().committed(books));
        }
    }

    /// The process ends between two steps.
    pub(crate) fn die(&mut self, death: Death) {
        self.weather.note(&format!("the process dies: {death:?}"));
        self.tasks.clear();
        self.process = None;
        self.auditor.borrow_mut().process_died();
        self.weather.end_all_returns();
        if death == Death::PowerLoss && self.ground.disk.inner.has_power() {
            self.ground.disk.inner.cut_power();
        }
        self.ground.disk.lose_frame();
        self.ground.disk.inner.restart();
    }

    /// A number that was not used before.
    pub(crate) fn number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.weather.has(fault)
    }

    pub(crate) fn errand(&mut self, name: String, errand: impl Future<Output = ()> + 'static) {
        self.weather.note(&format!("begin {name}"));
        self.tasks.spawn(Kind::Errand, name, errand);
    }
}
