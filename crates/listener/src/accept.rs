//! The accept loop: one thread for the whole listener, so that connections can be spread evenly
//! over the cores and caps are counted in one place.
//!
//! It never ends for an error: without descriptors it waits a moment and goes on.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::admission::{Admission, Counts};
use crate::core_loop::Arrival;

/// Wait after accept failed for want of descriptors or memory.
const STARVED_WAIT: Duration = Duration::from_millis(100);
/// Errors of accept are logged at most this often.
const LOG_INTERVAL: Duration = Duration::from_secs(1);
/// Connections still taken from the kernel's queue after the shutdown began.
const DRAIN_MAX: usize = 65_536;
/// Waits for descriptors while draining, before what is queued is given up.
const DRAIN_WAITS_MAX: usize = 20;

/// The way to one core.
#[derive(Debug)]
pub(crate) struct CoreInlet {
    pub(crate) open: Arc<AtomicUsize>,
    pub(crate) arrivals: mpsc::Sender<Arrival>,
}

/// Takes accepted sockets, admits them and passes them on.
#[derive(Debug)]
pub(crate) struct Intake {
    admission: Admission,
    counts: Arc<Counts>,
    cores: Vec<CoreInlet>,
    next: usize,
    troubles: Troubles,
}

impl Intake {
    pub(crate) fn new(admission: Admission, counts: Arc<Counts>, cores: Vec<CoreInlet>) -> Self {
        Self {
            admission,
            counts,
            cores,
            next: 0,
            troubles: Troubles::default(),
        }
    }

    /// Accepts until `shutdown`, then takes what the kernel has queued, and closes the socket.
    /// `same_socket` is the socket of `listener`, for asking the kernel itself at the end.
    pub(crate) async fn run(mut self, listener: TcpListener, same_socket: StdListener, shutdown: CancellationToken) {
        loop {
            let accepted = tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            match accepted.and_then(|(stream, address)| Ok((stream.into_std()?, address))) {
                Ok((stream, address)) => self.pass_on(stream, address).await,
                Err(error) => {
                    if self.note(&error) == Trouble::Starved {
                        tokio::time::sleep(STARVED_WAIT).await;
                    }
                }
            }
        }
        drop(listener);
        self.drain(&same_socket).await;
    }

    /// Clients in the kernel's queue believe that they are connected; closing the socket would
    /// reset them.
    async fn drain(&mut self, socket: &StdListener) {
        let mut waits = 0;
        for _ in 0..DRAIN_MAX {
            match socket.accept() {
                Ok((stream, address)) => match stream.set_nonblocking(true) {
                    Ok(()) => self.pass_on(stream, address).await,
                    Err(error) => _ = self.note(&error),
                },
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => {
                    if self.note(&error) == Trouble::Starved {
                        if waits == DRAIN_WAITS_MAX {
                            break;
                        }
                        waits += 1;
                        tokio::time::sleep(STARVED_WAIT).await;
                    }
                }
            }
        }
    }

    async fn pass_on(&mut self, stream: TcpStream, address: SocketAddr) {
        let address = SocketAddr::new(address.ip().to_canonical(), address.port());
        let core = self.least_loaded();
        let Some(permit) = self.admission.admit(address.ip(), &self.cores[core].open) else {
            return;
        };
        let arrival = Arrival {
            stream,
            address,
            permit,
        };
        // A full inlet holds the accept loop back, and the kernel's queue fills instead.
        if self.cores[core].arrivals.send(arrival).await.is_err() {
            tracing::debug!(core, "connection dropped: its core has ended");
        }
    }

    /// The core with the fewest open connections, in turn where several have as few.
    fn least_loaded(&mut self) -> usize {
        let cores = self.cores.len();
        let core = (self.next..self.next + cores)
            .map(|turn| turn % cores)
            .min_by_key(|&core| self.cores[core].open.load(Relaxed))
            .expect("a server has at least one core");
        self.next = (core + 1) % cores;
        core
    }

    fn note(&mut self, error: &io::Error) -> Trouble {
        self.counts.accept_errors_total.fetch_add(1, Relaxed);
        let trouble = Trouble::of(error);
        if let Some(silent) = self.troubles.may_log(Instant::now()) {
            tracing::warn!(%error, silent, "accept failed");
        }
        trouble
    }
}

/// What a failed accept means for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// That connection was gone before we took it.
    Gone,
    /// Descriptors or memory are used up; trying again at once would only spin.
    Starved,
}

impl Trouble {
    fn of(error: &io::Error) -> Self {
        use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
        match error.kind() {
            ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted => Self::Gone,
            _ => Self::Starved,
        }
    }
}

/// Keeps a storm of errors from becoming a storm of log lines.
#[derive(Debug, Default)]
struct Troubles {
    logged_at: Option<Instant>,
    silent: u64,
}

impl Troubles {
    /// Whether to log now, and how many errors went by without a line since the last one.
    fn may_log(&mut self, now: Instant) -> Option<u64> {
        if self.logged_at.is_some_and(|at| now.duration_since(at) < LOG_INTERVAL) {
            self.silent += 1;
            return None;
        }
        self.logged_at = Some(now);
        Some(std::mem::take(&mut self.silent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_up_descriptors_make_the_loop_wait() {
        let errors = [
            (rustix::io::Errno::MFILE, Trouble::Starved),
            (rustix::io::Errno::NFILE, Trouble::Starved),
            (rustix::io::Errno::NOBUFS, Trouble::Starved),
            (rustix::io::Errno::NOMEM, Trouble::Starved),
            (rustix::io::Errno::CONNABORTED, Trouble::Gone),
        ];
        for (errno, expect) in errors {
            assert_eq!(Trouble::of(&io::Error::from(errno)), expect, "{errno}");
        }
    }

    #[test]
    fn errors_are_logged_once_a_second_with_the_number_left_out() {
        let mut troubles = Troubles::default();
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        assert_eq!(troubles.may_log(at(0)), Some(0));
        assert_eq!(troubles.may_log(at(100)), None);
        assert_eq!(troubles.may_log(at(999)), None);
        assert_eq!(troubles.may_log(at(1_000)), Some(2));
        assert_eq!(troubles.may_log(at(1_100)), None);
    }
}
