//! A stub server for this crate's own tests: a plain listener, one thread a connection, answers made by a closure.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The pieces that are written one by one; none at all hangs up.
pub(crate) struct Reply {
    pieces: Vec<Vec<u8>>,
    then_close: bool,
}

impl From<Bytes> for Reply {
    fn from(bytes: Bytes) -> Self {
        Self {
            pieces: vec![bytes.0],
            then_close: bytes.1,
        }
    }
}

/// One whole answer, and whether the stub closes behind it.
pub(crate) struct Bytes(Vec<u8>, bool);

impl Bytes {
    pub(crate) fn split_everywhere(self) -> Reply {
        Reply {
            pieces: self.0.into_iter().map(|byte| vec![byte]).collect(),
            then_close: self.1,
        }
    }
}

type Answering = dyn Fn(&str, usize) -> Reply + Send + Sync;

/// Serves until the process ends: its threads block in `accept` and `read`, which a test needn't wait for.
pub(crate) struct Stub {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Stub {
    /// `answer` gets the request's bytes as text and its number, counted over all connections from 0.
    pub(crate) fn answering(answer: impl Fn(&str, usize) -> Reply + Send + Sync + 'static) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), answer)
    }

    /// The same on a listener that the caller has bound.
    pub(crate) fn on(listener: TcpListener, answer: impl Fn(&str, usize) -> Reply + Send + Sync + 'static) -> Self {
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let (seen, answer) = (Arc::clone(&connections), Arc::new(answer));
        std::thread::spawn(move || {
            let requests = Arc::new(AtomicUsize::new(0));
            for stream in listener.incoming() {
                seen.fetch_add(1, Ordering::SeqCst);
                let (answer, requests) = (Arc::clone(&answer), Arc::clone(&requests));
                std::thread::spawn(move || serve(stream.unwrap(), &*answer, &requests));
            }
        });
        Self { address, connections }
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn json(status: u16, body: &str) -> Bytes {
        Bytes(
            format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes(),
            false,
        )
    }

    pub(crate) fn closing(status: u16, body: &str) -> Bytes {
        let text = format!(
            "HTTP/1.1 {status} x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Bytes(text.into_bytes(), true)
    }

    pub(crate) fn chunked(chunks: &[&str]) -> Bytes {
        let mut text = String::from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for chunk in chunks {
            text.push_str(&format!("{:x}\r\n{chunk}\r\n", chunk.len()));
        }
        text.push_str("0\r\n\r\n");
        Bytes(text.into_bytes(), false)
    }

    pub(crate) fn hang_up() -> Reply {
        Reply {
            pieces: Vec::new(),
            then_close: true,
        }
    }
}

fn serve(mut stream: TcpStream, answer: &Answering, requests: &AtomicUsize) {
    stream.set_nodelay(true).unwrap();
    while let Some(request) = read_request(&mut stream) {
        let reply = answer(&request, requests.fetch_add(1, Ordering::SeqCst));
        for piece in reply.pieces {
            if stream.write_all(&piece).is_err() {
                return;
            }
        }
        if reply.then_close {
            return;
        }
    }
}

/// Head and body of one request, byte by byte: slow, but it can't read into the next one.
fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes).unwrap();
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8(body).unwrap())
}

/// Runs `work` on a runtime of its own.
pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

/// A stand-in for the program: a script. The folder must outlive its use.
pub(crate) fn script(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stand-in");
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    (folder, path)
}
