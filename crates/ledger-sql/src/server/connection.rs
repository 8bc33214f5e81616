//! A connection that comes back by itself, and the transactions on it. It belongs to one thread, which waits for each statement: a
//! transaction is never cut in two by a caller who goes away.

mod turns;

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use seckill_ledger::Error;
use tokio::runtime::Runtime;

use super::ServerOptions;
use super::access::{Access, Waits, settings};
use super::causes::is_crowded;
use super::errors::{Class, SqlError, Stop, class};
use super::places::Places;
use super::session::{Session, wait};
use super::statement::Transaction;
use super::values::SqlResult;
use super::wire::Target;
use crate::station::Station as _;

/// How long a connection may take to be made.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);

/// How often a transaction is done again that stood in the way of another one.
const CONTESTS_MAX: u32 = 20;

/// How often it is done again where a key was taken, perhaps by one that came first. The first time it may not have looked for it.
const TWINS_MAX: u32 = 3;

/// A place at the server, with a connection or without one.
pub(super) struct Connection {
    runtime: Arc<Runtime>,
    target: Target,
    access: Access,
    waits: Waits,
    counts_batches: bool,
    session: Option<Session>,
    places: Arc<Places>,
    /// Why there is no connection for the job that comes next.
    refused: Option<Refused>,
    /// It has given its place up for others, who are to come first.
    gave_way: bool,
}

/// Attempts to connect that failed, and when the first of them was begun.
struct Refused {
    begun: Instant,
    error: SqlError,
}

impl Connection {
    pub(super) fn new(target: &Target, access: Access, options: ServerOptions) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::Outage(format!("no runtime for the database: {error}")))?;
        Ok(Self {
            runtime: Arc::new(runtime),
            target: target.clone(),
            access,
            waits: Waits::from(options),
            counts_batches: options.counts_batches,
            session: None,
            places: Arc::default(),
            refused: None,
            gave_way: false,
        })
    }

    /// The same, counted among those of this process.
    pub(super) fn counted_in(mut self, places: &Arc<Places>) -> Self {
        self.places = Arc::clone(places);
        self
    }

    fn connect(&self) -> SqlResult<Session> {
        let wire = wait(&self.runtime, CONNECT_TIME_MAX, self.target.connect());
        if wire.as_ref().is_err_and(is_crowded) {
            self.places.note_refused(Instant::now());
        }
        let mut session = Session::new(Arc::clone(&self.runtime), self.target.family(), wire?, &self.places);
        session.say(&settings(session.family(), self.access, self.waits))?;
        Ok(session)
    }

    /// The connection as it is, for what is no transaction: migrating.
    pub(super) fn session(&mut self) -> Result<&mut Session, Stop> {
        if self.session.is_none() {
            self.session = Some(self.connect()?);
        }
        self.session
            .as_mut()
            .ok_or_else(|| Stop::Ledger(Error::Outage("no connection".to_owned())))
    }

    /// Begins, on a new connection where the kept one died while it was idle.
    fn begin(&mut self) -> SqlResult<Session> {
        let begin = match self.access {
            Access::Write => "START TRANSACTION",
            Access::Read => "START TRANSACTION READ ONLY",
        };
        if let Some(mut kept) = self.session.take()
            && kept.say(begin).is_ok()
        {
            return Ok(kept);
        }
        if let Some(refused) = self.refused.take() {
            return Err(refused.error);
        }
        let mut fresh = self.connect()?;
        fresh.say(begin)?;
        Ok(fresh)
    }

    /// Runs `work` in one transaction: committed when it succeeds, undone on any error and on a panic. Where it stood in the way of
    /// another transaction it is done again from its beginning.
    pub(super) fn in_transaction<T>(&mut self, work: impl Fn(&Transaction<'_>) -> Result<T, Stop>) -> Result<T, Error> {
        let (mut contests, mut twins) = (0, 0);
        loop {
            let stop = match self.attempt(&work, 0 < contests + twins) {
                Ok(done) => return Ok(done),
                Err(stop) => stop,
            };
            match &stop {
                Stop::Sql(error) if class(error) == Class::Contest && contests < CONTESTS_MAX => contests += 1,
                Stop::Sql(error) if class(error) == Class::Twin && twins < TWINS_MAX => twins += 1,
                _ => return Err(stop.into()),
            }
        }
    }

    fn attempt<T>(&mut self, work: impl Fn(&Transaction<'_>) -> Result<T, Stop>, is_repeated: bool) -> Result<T, Stop> {
        let transaction = Transaction {
            session: RefCell::new(self.begin()?),
            failed: Cell::new(false),
            is_repeated,
            counts_batches: self.counts_batches,
            lifetime: PhantomData,
        };
        let done = work(&transaction);
        let failed = transaction.failed.get();
        let mut session = transaction.session.into_inner();
        let done = match done {
            Ok(done) if !failed => {
                session.say("COMMIT").map_err(|error| self.uncommitted(error))?;
                Ok(done)
            }
            Ok(_) => Err(Stop::Ledger(Error::Outage(
                "a statement failed and was passed over".to_owned(),
            ))),
            Err(stop) => Err(stop),
        };
        let broken = matches!(&done, Err(Stop::Sql(error)) if class(error) == Class::Broken);
        if done.is_ok() || (!broken && session.say("ROLLBACK").is_ok()) {
            self.session = Some(session);
        }
        done
    }

    /// Why a commit did not succeed. No answer is no answer: what was to be written may be, and the connection is not used again.
    fn uncommitted(&self, error: SqlError) -> Stop {
        match (self.access, class(&error)) {
            (Access::Write, Class::Broken) => Stop::Ledger(Error::OutcomeUnknown(error.to_string())),
            _ => Stop::Sql(error),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.rest();
    }
}
