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

use crate::admission::Admission;
use crate::core_loop::{Arrival, Ending};
use crate::counts::Counts;
use crate::troubles::{Trouble, Troubles};

/// Wait after accept failed for want of descriptors or memory.
const STARVED_WAIT: Duration = Duration::from_millis(100);
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

    /// Accepts until the shutdown, then takes what the kernel has queued, and closes the socket.
    /// `same_socket` is the socket of `listener`, for asking the kernel itself at the end.
    pub(crate) async fn run(mut self, listener: TcpListener, same_socket: StdListener, ending: Ending) {
        loop {
            let accepted = tokio::select! {
                biased;
                () = ending.cut_off.cancelled() => return,
                () = ending.shutdown.cancelled() => break,
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
        let Some(core) = self.least_loaded() else { return };
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
            tracing::error!("a core has ended: its connections are lost, the others go on");
            self.cores.swap_remove(core);
        }
    }

    /// The core with the fewest open connections, in turn where several have as few.
    fn least_loaded(&mut self) -> Option<usize> {
        let cores = self.cores.len();
        let core = (self.next..self.next + cores)
            .map(|turn| turn % cores)
            .min_by_key(|&core| self.cores[core].open.load(Relaxed))?;
        self.next = core + 1;
        Some(core)
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
