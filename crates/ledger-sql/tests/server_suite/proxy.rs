//! A way to the server that loses things: the reply of a COMMIT, or every connection.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A proxy on a port of its own; its threads end with their connections.
pub struct Proxy {
    pub port: u16,
    eats_next_commit: Arc<AtomicBool>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    pub fn to(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let proxy = Self {
            port,
            eats_next_commit: Arc::default(),
            streams: Arc::default(),
        };
        let (eats, streams) = (Arc::clone(&proxy.eats_next_commit), Arc::clone(&proxy.streams));
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.expect("a connection");
                let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).expect("the server is there");
                streams.lock().expect("is done").extend([copy(&client), copy(&server)]);
                join(&client, &server, Arc::clone(&eats));
            }
        });
        proxy
    }

    /// The server gets the next COMMIT, and the connection ends when it answers.
    pub fn eat_next_commit(&self) {
        self.eats_next_commit.store(true, Ordering::SeqCst);
    }

    /// Ends every connection.
    pub fn cut(&self) {
        for stream in self.streams.lock().expect("is done").drain(..) {
            // It may have ended by itself.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn copy(stream: &TcpStream) -> TcpStream {
    stream.try_clone().expect("a descriptor")
}

fn join(client: &TcpStream, server: &TcpStream, eats: Arc<AtomicBool>) {
    let eaten = Arc::new(AtomicBool::new(false));
    let (from, to, eaten_there) = (copy(client), copy(server), Arc::clone(&eaten));
    thread::spawn(move || {
        pass(from, to, |chunk| {
            // Not READ COMMITTED. PostgreSQL's texts end with a zero.
            let commits = chunk.ends_with(b"COMMIT") || chunk.ends_with(b"COMMIT\0");
            if commits && eats.swap(false, Ordering::SeqCst) {
                eaten_there.store(true, Ordering::SeqCst);
            }
            true
        });
    });
    let (from, to) = (copy(server), copy(client));
    thread::spawn(move || pass(from, to, |_| !eaten.load(Ordering::SeqCst)));
}

/// Copies until either side ends or `goes_on` says no; then both end.
fn pass(mut from: TcpStream, mut to: TcpStream, mut goes_on: impl FnMut(&[u8]) -> bool) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(length) = from.read(&mut buffer) {
        if length == 0 || !goes_on(&buffer[..length]) || to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    for stream in [from, to] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}
