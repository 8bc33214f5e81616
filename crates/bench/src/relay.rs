//! A slow way to a server that knows nothing of it: a TCP relay on loopback that hands every answer on so much later.
//!
//! ```text
//! client ──▶ relay ──────────▶ server
//! client ◀── delay ◀── relay ◀── server
//! ```
//! Answers wait side by side and not one behind the other: what is on its way at once is late by the same time, as over a long line.
//! Each connection has three threads, which end with it.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Error, Result};

/// Pieces of one connection's answers that may wait; then the server waits.
const PIECES_MAX: usize = 1_024;
/// Where a Redis listens whose address names no port.
const REDIS_PORT: u16 = 6379;
/// Bytes of one piece.
const PIECE_BYTES: usize = 64 * 1024;

/// A running relay. Dropping it ends its connections.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    url: String,
    open: Arc<Mutex<Open>>,
}

#[derive(Debug, Default)]
struct Open {
    streams: Vec<TcpStream>,
    ended: bool,
}

impl Relay {
    /// A relay to the Redis of this address, whose answers arrive `delay` later.
    ///
    /// # Errors
    /// [`Error::Usage`] where it is no `redis://` address of one server: others name their servers themselves, and encryption their hosts.
    pub fn to_store(url: &str, delay: Duration) -> Result<Self> {
        let wrong = || Error::Usage("only the way to a store at redis://host:port can be made longer".into());
        let rest = url.strip_prefix("redis://").ok_or_else(wrong)?;
        let host_at = rest.rfind('@').map_or(0, |at| at + 1);
        let (login, rest) = rest.split_at(host_at);
        let host_length = rest.find('/').unwrap_or(rest.len());
        let (host, database) = rest.split_at(host_length);
        let named = if host.contains(':') {
            host.to_owned()
        } else {
            format!("{host}:{REDIS_PORT}")
        };
        let mut found = named.to_socket_addrs().map_err(|_| wrong())?;
        let mut relay = Self::start(found.next().ok_or_else(wrong)?, delay)?;
        relay.url = format!("redis://{login}{}{database}", relay.address);
        Ok(relay)
    }

    fn start(server: SocketAddr, delay: Duration) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Error::io("find a free port"))?;
        let address = listener.local_addr().map_err(Error::io("find a free port"))?;
        let open = Arc::new(Mutex::new(Open::default()));
        let accepting = Arc::clone(&open);
        let accept = move || {
            for client in listener.incoming().flatten() {
                if accepting.lock().unwrap_or_else(PoisonError::into_inner).ended {
                    return;
                }
                // A client whose server can't be reached finds its connection closed.
                let _joined = join(&accepting, client, server, delay);
            }
        };
        spawn("relay", accept)?;
        Ok(Self {
            address,
            url: String::new(),
            open,
        })
    }

    /// The store's address by this way.
    pub fn url(&self) -> String {
        self.url.clone()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let streams = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.ended = true;
            std::mem::take(&mut open.streams)
        };
        for stream in streams {
            // It may have ended by itself.
            let _ended = stream.shutdown(Shutdown::Both);
        }
        // Wakes the thread that accepts; it sees that this is over.
        let _woken = TcpStream::connect(self.address);
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(drop).map_err(Error::io("start a thread of the relay"))
}

/// Connects a client to the server.
fn join(open: &Mutex<Open>, client: TcpStream, server: SocketAddr, delay: Duration) -> Result<()> {
    let server = TcpStream::connect(server).map_err(Error::io(format!("connect to {server}")))?;
    let again = |stream: &TcpStream| stream.try_clone().map_err(Error::io("share a connection"));
    for stream in [&client, &server] {
        stream.set_nodelay(true).map_err(Error::io("set up a connection"))?;
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        open.streams.push(again(stream)?);
    }
    let (from_client, to_server) = (again(&client)?, again(&server)?);
    let (send, waiting) = sync_channel(PIECES_MAX);
    spawn("relay-requests", move || pass_on(from_client, to_server))?;
    spawn("relay-answers", move || take_in(server, &send, delay))?;
    spawn("relay-late", move || hand_on(&waiting, client))
}

/// Requests go on at once.
fn pass_on(mut client: TcpStream, mut server: TcpStream) {
    let mut piece = vec![0; PIECE_BYTES];
    while let Ok(count @ 1..) = client.read(&mut piece) {
        if server.write_all(&piece[..count]).is_err() {
            break;
        }
    }
    let _ended = server.shutdown(Shutdown::Both);
}

type Piece = (Instant, Vec<u8>);

/// Answers are taken in with the moment at which they are to arrive.
fn take_in(mut server: TcpStream, send: &SyncSender<Piece>, delay: Duration) {
    let mut piece = vec![0; PIECE_BYTES];
    while let Ok(count @ 1..) = server.read(&mut piece) {
        if send.send((Instant::now() + delay, piece[..count].to_vec())).is_err() {
            return;
        }
    }
}

/// Hands answers on when it is time.
fn hand_on(waiting: &Receiver<Piece>, mut client: TcpStream) {
    for (arrives_at, piece) in waiting {
        thread::sleep(arrives_at.saturating_duration_since(Instant::now()));
        if client.write_all(&piece).is_err() {
            break;
        }
    }
    let _ended = client.shutdown(Shutdown::Both);
}

#[cfg(test)]
#[path = "relay_tests.rs"]
mod tests;
