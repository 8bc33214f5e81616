//! A TCP proxy in front of a real server that does to its clients what networks do: it delays, swallows, cuts, and loses just the
//! one answer that matters.
//!
//! ```text
//! client ──▶ Proxy ──▶ server
//! client ◀── fault ◀── server
//! ```
//! Faults hold for connections that are open and for new ones. Threads end with the proxy.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

mod pair;

use pair::{Pair, connect};

/// What happens to bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Network {
    /// They arrive.
    #[default]
    Fine,
    /// Each piece arrives so much later, in both directions.
    Slow(Duration),
    /// They go nowhere, and nobody is told.
    BlackHole,
    /// Every connection is reset, new ones too.
    Reset,
    /// The server hears that the client sends nothing more; its answers still arrive.
    HalfClosed,
}

#[derive(Default)]
struct State {
    network: Network,
    /// What a request must contain so that its answer is lost, and how many such requests come before.
    eaten: Option<(Vec<u8>, usize)>,
    /// What a request must contain so that it stops here, with all that comes behind it on its connection.
    held: Option<Vec<u8>>,
    /// Requests that stop here.
    holding: usize,
    /// Answers that were lost.
    lost: usize,
    open: Vec<Weak<Pair>>,
    ended: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nothing is held any more.
    fn hold(&self) {
        let mut state = self.state();
        state.holding += 1;
        self.changed.notify_all();
        while state.held.is_some() && !state.ended {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.holding -= 1;
    }

    /// Waits until bytes may go on; false where their connection is over.
    fn pass(&self) -> bool {
        let mut state = self.state();
        loop {
            match state.network {
                _ if state.ended => return false,
                Network::Fine | Network::HalfClosed => return true,
                Network::Reset => return false,
                Network::Slow(by) => {
                    drop(state);
                    thread::sleep(by);
                    return true;
                }
                Network::BlackHole => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// The proxy; what runs through it ends with it.
pub struct Proxy {
    /// Where clients connect.
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

impl Proxy {
    /// A proxy on a free loopback port.
    ///
    /// # Panics
    /// Where there is no free port.
    #[must_use]
    pub fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared::default());
        let accepting = shared.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                if accepting.state().ended {
                    return;
                }
                let Ok(client) = client else { continue };
                connect(&accepting, client, server);
            }
        });
        Self { address, shared }
    }

    /// From now on the network is so.
    pub fn set(&self, network: Network) {
        let mut state = self.shared.state();
        state.network = network;
        let closed: Vec<_> = match network {
            Network::Reset => state.open.drain(..).collect(),
            _ => Vec::new(),
        };
        drop(state);
        self.shared.changed.notify_all();
        closed.iter().filter_map(Weak::upgrade).for_each(|pair| pair.reset());
    }

    /// The server gets the request that contains `needle` for the `nth` time from now (the first is 1), and does it; its answer is lost,
    /// and the connection with it. Once.
    pub fn eat_reply_to(&self, needle: &[u8], nth: usize) {
        assert!(0 < nth && !needle.is_empty(), "the first one is 1");
        self.shared.state().eaten = Some((needle.to_vec(), nth));
    }

    /// A request that contains `needle` does not reach the server until [`Proxy::let_go`]: its client stands still in the middle of its work.
    pub fn hold(&self, needle: &[u8]) {
        assert!(!needle.is_empty(), "something is held");
        self.shared.state().held = Some(needle.to_vec());
    }

    /// Whether a request is held now.
    #[must_use]
    pub fn holds(&self) -> bool {
        0 < self.shared.state().holding
    }

    /// What is held goes on.
    pub fn let_go(&self) {
        self.shared.state().held = None;
        self.shared.changed.notify_all();
    }

    /// Answers that were lost so far.
    #[must_use]
    pub fn replies_eaten(&self) -> usize {
        self.shared.state().lost
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let open = {
            let mut state = self.shared.state();
            state.ended = true;
            std::mem::take(&mut state.open)
        };
        self.shared.changed.notify_all();
        open.iter().filter_map(Weak::upgrade).for_each(|pair| pair.reset());
        // Wakes the accepting thread, which sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

#[cfg(test)]
mod tests;
