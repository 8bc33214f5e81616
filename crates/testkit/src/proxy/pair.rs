//! One connection through the proxy: two threads that move bytes, and how it ends.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use socket2::SockRef;

use super::{Network, Shared};
use crate::needle::Needle;

/// A connection: both ends, closed when both of its threads have ended.
pub(super) struct Pair {
    client: TcpStream,
    server: TcpStream,
    /// Whether the next answer is to be lost.
    eats: Mutex<bool>,
    /// Whether it was reset. Its threads see that when they run next: bytes that come until then are lost too, though the network may be
    /// fine again.
    is_reset: AtomicBool,
}

impl Pair {
    /// Passes nothing more and ends both threads; closing resets then.
    pub(super) fn reset(&self) {
        self.is_reset.store(true, Ordering::Release);
        reset(&self.client);
        reset(&self.server);
    }

    fn is_reset(&self) -> bool {
        self.is_reset.load(Ordering::Acquire)
    }
}

/// The other end hears of a reset when this is closed, which whoever reads it does now.
fn reset(stream: &TcpStream) {
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
    let _ = stream.shutdown(Shutdown::Read);
}

pub(super) fn connect(shared: &Arc<Shared>, client: TcpStream, server: SocketAddr) {
    if shared.state().network == Network::Reset {
        return reset(&client);
    }
    let Ok(server) = TcpStream::connect(server) else {
        return reset(&client);
    };
    let pair = Arc::new(Pair {
        client,
        server,
        eats: Mutex::new(false),
        is_reset: AtomicBool::new(false),
    });
    {
        let mut state = shared.state();
        // It may have become so while the server was being connected to.
        if state.network == Network::Reset {
            return pair.reset();
        }
        state.open.retain(|open| open.strong_count() != 0);
        state.open.push(Arc::downgrade(&pair));
    }
    let (requests, answers) = ((shared.clone(), pair.clone()), (shared.clone(), pair));
    thread::spawn(move || forward_requests(&requests.0, &requests.1));
    thread::spawn(move || forward_answers(&answers.0, &answers.1));
}

/// From the client to the server; looks for the request whose answer is to be lost.
fn forward_requests(shared: &Shared, pair: &Pair) {
    let (mut needle, mut needle_of_held) = (Needle::default(), Needle::default());
    let sent = pump((shared, pair), &pair.client, &pair.server, |bytes| {
        let mut state = shared.state();
        if state.network == Network::HalfClosed {
            return false;
        }
        if let Some((wanted, nth)) = &mut state.eaten {
            *nth = nth.saturating_sub(needle.count(wanted, bytes));
            if *nth == 0 {
                state.eaten = None;
                *pair.eats.lock().unwrap_or_else(PoisonError::into_inner) = true;
            }
        }
        if let Some(wanted) = state.held.clone() {
            drop(state);
            if needle_of_held.count(&wanted, bytes) != 0 {
                shared.hold();
                return !pair.is_reset();
            }
        }
        true
    });
    let _ = match sent {
        Ok(()) => pair.server.shutdown(Shutdown::Write),
        Err(_) => pair.server.shutdown(Shutdown::Both),
    };
}

/// From the server to the client; where an answer is to be lost, the connection is reset in its place.
fn forward_answers(shared: &Shared, pair: &Pair) {
    let mut is_lost = false;
    let _ = pump((shared, pair), &pair.server, &pair.client, |_| {
        is_lost = std::mem::take(&mut *pair.eats.lock().unwrap_or_else(PoisonError::into_inner));
        !is_lost
    });
    let is_over = {
        let mut state = shared.state();
        state.lost += usize::from(is_lost);
        is_lost || state.ended || state.network == Network::Reset || pair.is_reset()
    };
    if is_over {
        pair.reset();
    } else {
        let _ = pair.client.shutdown(Shutdown::Both);
    }
}

/// Moves bytes until an end, or until `look` says that it is over.
fn pump(
    (shared, pair): (&Shared, &Pair),
    mut from: &TcpStream,
    mut to: &TcpStream,
    mut look: impl FnMut(&[u8]) -> bool,
) -> io::Result<()> {
    let mut buffer = [0; 16 * 1024];
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 || !shared.pass() || pair.is_reset() || !look(&buffer[..count]) {
            return Ok(());
        }
        to.write_all(&buffer[..count])?;
    }
}
