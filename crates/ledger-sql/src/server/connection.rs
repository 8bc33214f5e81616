//! A connection that comes back by itself, and the transactions on it. It belongs to one thread, which waits for each statement: a
//! transaction is never cut in two by a caller who goes away.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use seckill_ledger::Error;
use tokio::runtime::Runtime;

use super::ServerOptions;
use super::access::{Access, settings};
use super::errors::{Class, SqlError, Stop, class};
use super::statement::Transaction;
use super::translate::{Family, Translated, translate};
use super::values::{Parameter, SqlResult, Value};
use super::wire::{Done, Target, Wire};

/// How long a connection may take to be made.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);

/// How long a statement may take, on its way too. The server's own limits are shorter and cost no connection.
const STATEMENT_TIME_MAX: Duration = Duration::from_secs(40);

/// How often a transaction is done again that stood in the way of another one.
const CONTESTS_MAX: u32 = 20;

/// How often it is done again where a key was taken, perhaps by one that came first. The first time it may not have looked for it.
const TWINS_MAX: u32 = 3;

/// A live connection with what it knows of the queries.
pub(super) struct Session {
    runtime: Arc<Runtime>,
    family: Family,
    wire: Wire,
    translated: HashMap<String, Arc<Translated>>,
}

impl Session {
    pub(super) const fn family(&self) -> Family {
        self.family
    }

    pub(super) fn translated(&mut self, query: &str) -> Arc<Translated> {
        if let Some(known) = self.translated.get(query) {
            return Arc::clone(known);
        }
        let translated = Arc::new(translate(self.family, query));
        self.translated.insert(query.to_owned(), Arc::clone(&translated));
        translated
    }

    pub(super) fn rows(&mut self, said: &Translated, parameters: &[Parameter]) -> SqlResult<Vec<Vec<Value>>> {
        wait(&self.runtime, STATEMENT_TIME_MAX, self.wire.rows(said, parameters))
    }

    pub(super) fn execute(&mut self, said: &Translated, parameters: &[Parameter]) -> SqlResult<Done> {
        wait(&self.runtime, STATEMENT_TIME_MAX, self.wire.execute(said, parameters))
    }

    pub(super) fn say(&mut self, sql: &str) -> SqlResult<()> {
        wait(&self.runtime, STATEMENT_TIME_MAX, self.wire.say(sql))
    }
}

fn wait<T>(runtime: &Runtime, limit: Duration, work: impl Future<Output = SqlResult<T>>) -> SqlResult<T> {
    let timed = runtime.block_on(async { tokio::time::timeout(limit, work).await });
    timed.unwrap_or_else(|_| {
        let seconds = limit.as_secs();
        Err(SqlError::Broken(format!(
            "the database did not answer within {seconds} s"
        )))
    })
}

/// A place at the server, with a connection or without one.
pub(super) struct Connection {
    runtime: Arc<Runtime>,
    target: Target,
    access: Access,
    lock_wait_s_max: u8,
    counts_batches: bool,
    session: Option<Session>,
}

impl Connection {
    pub(super) fn new(target: &Target, access: Access, options: ServerOptions) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::Outage(format!("no runtime for the database: {error}")))?;
        Ok(Self {
            runtime: Arc::new(runtime),
            target: target.clone(),
            access,
            lock_wait_s_max: options.lock_wait_s_max,
            counts_batches: options.counts_batches,
            session: None,
        })
    }

    fn connect(&self) -> SqlResult<Session> {
        let wire = wait(&self.runtime, CONNECT_TIME_MAX, self.target.connect())?;
        let mut session = Session {
            runtime: Arc::clone(&self.runtime),
            family: self.target.family(),
            wire,
            translated: HashMap::new(),
        };
        session.say(&settings(session.family, self.access, self.lock_wait_s_max))?;
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
                // No answer is no answer: it may be committed, and the connection is not used again.
                session.say("COMMIT")?;
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
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            let goodbye = async {
                session.wire.close().await;
                Ok(())
            };
            // A server that does not answer does not keep us.
            let _ = wait(&self.runtime, Duration::from_secs(1), goodbye);
        }
    }
}
