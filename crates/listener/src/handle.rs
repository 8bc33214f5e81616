//! The threads of a running listener: started one by one, ended together.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use tokio_util::sync::CancellationToken;

use crate::core_loop::Ending;
use crate::counts::Counts;
use crate::error::Error;

/// A running listener. Dropping it leaves the listener running.
pub struct ServerHandle {
    threads: Vec<(String, JoinHandle<()>)>,
    counts: Arc<Counts>,
    address: SocketAddr,
    connections_max: usize,
    ending: Ending,
}

/// Tells the starter that a thread serves, or why it doesn't.
pub(crate) type Started = SyncSender<Result<(), io::Error>>;

impl ServerHandle {
    pub(crate) fn new(address: SocketAddr, connections_max: usize, counts: Arc<Counts>, ending: Ending) -> Self {
        Self {
            threads: Vec::new(),
            counts,
            address,
            connections_max,
            ending,
        }
    }

    /// The address that is served.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Counters, to be read at any time.
    #[must_use]
    pub fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }

    /// The cap in force: the one asked for, or what the descriptor limit allows.
    #[must_use]
    pub fn connections_max(&self) -> usize {
        self.connections_max
    }

    /// Cancel it to end at once, without any grace: for a second signal while the first one's
    /// shutdown still waits.
    #[must_use]
    pub fn cut_off(&self) -> CancellationToken {
        self.ending.cut_off.clone()
    }

    /// Waits until the shutdown is through: every connection ended, or the grace is over. Blocks
    /// the thread; from async code call it on a blocking one.
    ///
    /// # Errors
    /// [`Error::Panicked`] where a thread of the listener did.
    pub fn join(self) -> Result<(), Error> {
        let mut outcome = Ok(());
        for (thread, handle) in self.threads {
            if handle.join().is_err() {
                outcome = Err(Error::Panicked { thread });
            }
        }
        outcome
    }

    /// Starts a thread and waits until it serves.
    pub(crate) fn start(&mut self, thread: String, run: impl FnOnce(Started) + Send + 'static) -> Result<(), Error> {
        let (started, outcome) = sync_channel(1);
        let handle = thread::Builder::new()
            .name(thread.clone())
            .spawn(move || run(started))
            .map_err(|source| Error::Start {
                thread: thread.clone(),
                source,
            })?;
        self.threads.push((thread.clone(), handle));
        match outcome.recv() {
            Ok(Ok(())) => Ok(()),
            Ok(Err(source)) => Err(Error::Start { thread, source }),
            Err(_gone) => Err(Error::Panicked { thread }),
        }
    }
}
