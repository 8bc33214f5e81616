//! Losses as a whole, after all has healed: the database is an older copy, or the journal is gone. The product must notice the first, and
//! its recovery must bring back what everybody was told, also where it dies in the middle and is begun again.

use rusqlite::Connection;
use rusqlite::backup::Backup;
use seckill_ledger::Operations;

use crate::actions::{ears, settle};
use crate::auditor::Books;
use crate::disk::Disk;
use crate::house::INSTALLATION;
use crate::world::{Death, World};

/// Attempts of a recovery; all but the last may be cut off.
const ATTEMPTS: u32 = 3;

/// Pages that a copy moves at once: all of them.
const ALL_PAGES: i32 = -1;

impl World {
    /// The database as it is now, to be brought back later.
    pub(crate) fn copy_database(&mut self) -> Connection {
        let copy = |connection: &mut Connection| {
            let mut kept = Connection::open_in_memory().expect("a database in memory");
            let backup = Backup::new(connection, &mut kept).expect("two databases");
            assert_eq!(backup.step(ALL_PAGES), Ok(rusqlite::backup::StepResult::Done));
            drop(backup);
            kept
        };
        let kept = self.ground.database.inspect(copy);
        kept.expect("the ledger runs on this thread")
    }

    /// The process ends, and begins again on the older database: that is noticed, and recovery makes the same orders of the same tickets.
    pub(crate) fn lose_database(&mut self, kept: &Connection) {
        if self.is_violated() {
            return;
        }
        self.weather.note("the database is restored from an older copy");
        self.die(Death::Killed);
        let lost = self.auditor.borrow().books().settled_batch;
        let restore = |connection: &mut Connection| {
            let backup = Backup::new(kept, connection).expect("two databases");
            assert_eq!(backup.step(ALL_PAGES), Ok(rusqlite::backup::StepResult::Done));
            drop(backup);
            Books::read(connection).expect("the auditor's own queries fit the tables")
        };
        let books = self.ground.database.inspect(restore);
        let books = books.expect("the ledger runs on this thread");
        let is_older = books.settled_batch < lost;
        self.auditor.borrow_mut().database_restored(books);
        let notices = self.begin();
        if is_older && !notices {
            let detail = format!("{lost} batches were settled");
            self.auditor.borrow_mut().fail("an older database is noticed", detail);
        }
        self.recover();
        self.settle_what_can();
    }

    /// The process ends, and begins again with an empty journal: what the ledger knows is built again.
    pub(crate) fn lose_journal(&mut self) {
        if self.is_violated() {
            return;
        }
        self.weather.note("the journal is gone");
        self.die(Death::Killed);
        self.ground.disk = Disk::new(self.random.next(), self.weather.clone());
        self.begin();
        self.recover();
    }

    /// What an operator does after such a loss, with the process dying under him now and then.
    fn recover(&mut self) {
        for attempt in 1..=ATTEMPTS {
            if self.is_violated() {
                return;
            }
            let operator = self.process().operator.clone();
            let acknowledged = self.process().engine.acknowledged_batch();
            let database = self.ground.database.clone();
            let (auditor, weather) = ears(self);
            self.errand(format!("recovery {attempt}"), async move {
                let done = operator.recover(None).await;
                weather.note(&format!("recovery {attempt}: {done:?}"));
                if let Err(error) = done {
                    auditor.borrow_mut().fail("recovery can be done", error.to_string());
                }
                let adopted = database.set_installation(INSTALLATION, acknowledged).await;
                adopted.expect("the ledger runs on this thread");
            });
            if attempt < ATTEMPTS && self.random.chance(500) {
                for _ in 0..self.random.below(60) {
                    self.poll_or_sequence();
                }
                if self.process.is_some() {
                    let is_killed = self.random.chance(500);
                    self.die(if is_killed { Death::Killed } else { Death::PowerLoss });
                }
                self.begin();
            } else {
                self.settle_down();
                return;
            }
        }
    }

    /// One of the two, at random; nothing where the process is gone.
    fn poll_or_sequence(&mut self) {
        self.weather.next_step(self.now_ms());
        if self.process.is_none() {
            return;
        }
        if self.random.chance(500) {
            self.poll();
        } else {
            self.sequence();
        }
        self.look();
    }

    /// Workers work while it comes to anything and the clock stands still: what waits for another attempt goes on waiting.
    pub(crate) fn settle_what_can(&mut self) {
        let mut waiting = u64::MAX;
        while !self.is_violated() {
            let now_waiting = seckill_queue::Queue::depth(&*self.process().store).tickets;
            if now_waiting == 0 || waiting <= now_waiting {
                return;
            }
            waiting = now_waiting;
            settle(self);
            self.settle_down();
        }
    }
}
