//! A TCP proxy that eats an answer: what was asked is done, and whoever asked never hears of it.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// The proxy. Its threads end with the connections through it.
#[derive(Debug)]
pub struct Eater {
    address: SocketAddr,
    appetite: Arc<Appetite>,
}

#[derive(Debug)]
struct Appetite {
    /// A request with these bytes is counted.
    needle: Vec<u8>,
    /// How many of those pass before one is eaten; [`Appetite::NONE`] where none is.
    passes: AtomicUsize,
}

impl Appetite {
    const NONE: usize = usize::MAX;

    /// Whether the answer of what was sent just now is to be eaten.
    fn counts(&self, sent: &[u8]) -> bool {
        let hit = sent.windows(self.needle.len()).any(|window| window == self.needle);
        if !hit {
            return false;
        }
        let next = |passes: usize| match passes {
            Self::NONE => None,
            0 => Some(Self::NONE),
            passes => Some(passes - 1),
        };
        self.passes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next) == Ok(0)
    }
}

impl Eater {
    /// A proxy in front of `server` that lets everything through until [`Eater::eat`]. `needle` marks the requests it counts.
    ///
    /// # Panics
    /// Where there is no free port.
    #[must_use]
    pub fn start(server: SocketAddr, needle: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("bound");
        let appetite = Arc::new(Appetite {
            needle: needle.as_bytes().to_vec(),
            passes: AtomicUsize::new(Appetite::NONE),
        });
        let shared = appetite.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(server) else {
                    continue;
                };
                carry(client, server, &shared);
            }
        });
        Self { address, appetite }
    }

    /// Where clients connect.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Lets `passes` marked requests through, and eats the answer of the next: both ends of its connection are closed then.
    pub fn eat(&self, passes: usize) {
        self.appetite.passes.store(passes, Ordering::SeqCst);
    }
}

/// Carries bytes between two ends until one of them closes, or an answer is eaten.
fn carry(client: TcpStream, server: TcpStream, appetite: &Arc<Appetite>) {
    let (Ok(mut from_client), Ok(mut to_server)) = (client.try_clone(), server.try_clone()) else {
        return;
    };
    let hungry = Arc::new(AtomicBool::new(false));
    let (appetite, told) = (appetite.clone(), hungry.clone());
    thread::spawn(move || {
        pump(&mut from_client, &mut to_server, |bytes| {
            if appetite.counts(bytes) {
                told.store(true, Ordering::SeqCst);
            }
            true
        });
    });
    let (mut from_server, mut to_client) = (server, client);
    thread::spawn(move || pump(&mut from_server, &mut to_client, |_| !hungry.load(Ordering::SeqCst)));
}

/// Carries bytes one way as long as `passes` says so; then, or at the end, closes both ends.
fn pump(from: &mut TcpStream, to: &mut TcpStream, mut passes: impl FnMut(&[u8]) -> bool) {
    const CHUNK: usize = 65_536;
    let mut chunk = vec![0; CHUNK];
    while let Ok(length @ 1..) = from.read(&mut chunk) {
        if !passes(&chunk[..length]) || to.write_all(&chunk[..length]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
