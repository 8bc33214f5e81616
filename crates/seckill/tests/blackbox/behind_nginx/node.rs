//! What stands behind nginx in the place of a node, so that a test sees what arrives there and decides what comes back.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use std::io::{Read as _, Write as _};

/// A listener on a free loopback port. Its threads end with the process.
pub(super) struct Node {
    pub(super) address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    connections: AtomicUsize,
    /// The heads of requests, in the order of their arrival.
    heads: Mutex<Vec<String>>,
}

/// What comes back: bytes, and whether the connection goes on behind them.
pub(super) type Answer = (&'static [u8], bool);

impl Node {
    /// A node that answers every request, known by its head, with what `answer` says.
    pub(super) fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (seen, answer) = (Arc::new(Seen::default()), Arc::new(answer));
        let shared = seen.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(mut client) = client else { continue };
                shared.connections.fetch_add(1, Ordering::Relaxed);
                let (seen, answer) = (shared.clone(), answer.clone());
                thread::spawn(move || {
                    let mut bytes = Vec::new();
                    let mut buffer = [0; 4096];
                    loop {
                        match client.read(&mut buffer) {
                            Ok(0) | Err(_) => return,
                            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
                        }
                        while let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
                            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
                            bytes.drain(..end + 4);
                            let (said, goes_on) = answer(&head);
                            seen.heads.lock().unwrap_or_else(PoisonError::into_inner).push(head);
                            if client.write_all(said).is_err() || !goes_on {
                                return;
                            }
                        }
                    }
                });
            }
        });
        Self { address, seen }
    }

    pub(super) fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::Relaxed)
    }

    pub(super) fn heads(&self) -> Vec<String> {
        self.seen.heads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
