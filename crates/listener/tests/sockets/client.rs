//! A client that says exactly what it is told to and reads whole answers.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// No test waits that long: it only keeps a broken listener from hanging the run.
pub(crate) const STUCK: Duration = Duration::from_secs(30);

/// Waits until `holds`.
#[track_caller]
pub(crate) fn wait_until(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < STUCK, "never came true");
        std::thread::yield_now();
    }
}

/// A raw connection.
pub(crate) struct Client {
    stream: TcpStream,
    buffered: Vec<u8>,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    /// Whether the head has this line, in any case.
    pub(crate) fn has(&self, line: &str) -> bool {
        self.head.lines().any(|found| found.eq_ignore_ascii_case(line))
    }
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).expect("the listener is up"))
    }

    pub(crate) fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(STUCK)).expect("a valid timeout");
        stream.set_write_timeout(Some(STUCK)).expect("a valid timeout");
        stream.set_nodelay(true).expect("an open socket");
        Self {
            stream,
            buffered: Vec::new(),
        }
    }

    pub(crate) fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.stream.write_all(bytes.as_ref()).expect("the listener reads");
        self
    }

    /// A request without a body.
    pub(crate) fn get(&mut self, path: &str) -> Reply {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n")).reply()
    }

    /// The next answer, which must have a length.
    pub(crate) fn reply(&mut self) -> Reply {
        let head = self.until_head_ends();
        let status = head[9..12].parse().expect("a status");
        let length = head
            .lines()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok())
            .unwrap_or(0);
        while self.buffered.len() < length {
            assert!(self.fill(), "closed within a body");
        }
        let body = self.buffered.drain(..length).collect();
        Reply {
            status,
            head,
            body: String::from_utf8(body).expect("text"),
        }
    }

    /// The next head, without reading a body.
    pub(crate) fn until_head_ends(&mut self) -> String {
        loop {
            if let Some(end) = self.buffered.windows(4).position(|window| window == b"\r\n\r\n") {
                let head = self.buffered.drain(..end + 4).collect();
                return String::from_utf8(head).expect("text");
            }
            assert!(self.fill(), "closed before a head ended: {:?}", self.buffered);
        }
    }

    /// Reads `count` bytes.
    pub(crate) fn take(&mut self, count: usize) -> Vec<u8> {
        while self.buffered.len() < count {
            assert!(self.fill(), "closed too early");
        }
        self.buffered.drain(..count).collect()
    }

    /// Waits until the listener closes; whether it did so without sending anything more.
    pub(crate) fn closes_silently(&mut self) -> bool {
        while self.fill() {}
        self.buffered.is_empty()
    }

    /// Waits until the listener says that nothing follows; whether it did so without sending
    /// anything more and without a reset, which could have cost the last answer.
    pub(crate) fn ends_cleanly(&mut self) -> bool {
        let mut byte = [0];
        self.buffered.is_empty() && matches!(self.stream.read(&mut byte), Ok(0))
    }

    /// Whether there was anything more.
    fn fill(&mut self) -> bool {
        let mut bytes = [0; 16 * 1024];
        match self.stream.read(&mut bytes) {
            Ok(read) => {
                self.buffered.extend_from_slice(&bytes[..read]);
                0 < read
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
            Err(error) => panic!("the listener neither answers nor closes: {error}"),
        }
    }
}
