//! A connection that says exactly the bytes it is told to, and reads answer by answer what comes back.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::Answer;

/// Longest wait for bytes.
const PATIENCE: Duration = Duration::from_secs(20);

/// An open connection.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    /// Bytes behind the last answer that was read.
    ahead: Vec<u8>,
}

impl Wire {
    /// Connects.
    ///
    /// # Errors
    /// Nobody listens, or there is no descriptor left.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            ahead: Vec::new(),
        })
    }

    /// The same connection for another thread.
    ///
    /// # Errors
    /// There is no descriptor left.
    pub fn stream(&self) -> io::Result<TcpStream> {
        self.stream.try_clone()
    }

    /// Sends these bytes as they are.
    ///
    /// # Errors
    /// The server has closed.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.write_all(bytes.as_ref())
    }

    /// The next answer; none where the connection is closed before a whole one came.
    ///
    /// # Panics
    /// Where neither comes in time.
    pub fn answer(&mut self) -> Option<Answer> {
        let mut answer = self.head()?;
        let body = if answer.header("transfer-encoding").eq_ignore_ascii_case("chunked") {
            self.chunks()?
        } else {
            let length = answer.header("content-length").parse().unwrap_or(0);
            self.take(length)?
        };
        answer.json = serde_json::from_slice(&body).unwrap_or(Value::Null);
        Some(answer)
    }

    /// The head of the next answer, whose body is left to be taken; none where the connection is closed before.
    ///
    /// # Panics
    /// As [`Self::answer`].
    pub fn head(&mut self) -> Option<Answer> {
        let head = self.until(b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(head.strip_suffix(b"\r\n\r\n").unwrap_or_default()).into_owned();
        Some(Answer {
            status: head.split(' ').nth(1)?.parse().ok()?,
            head,
            json: Value::Null,
        })
    }

    /// Everything up to and with `end`; none where the connection is closed before.
    ///
    /// # Panics
    /// As [`Self::answer`].
    pub fn until(&mut self, end: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(at) = self.ahead.windows(end.len()).position(|bytes| bytes == end) {
                return self.take(at + end.len());
            }
            self.more()?;
        }
    }

    /// Whether the server closes without another byte.
    ///
    /// # Panics
    /// As [`Self::answer`].
    pub fn ends(&mut self) -> bool {
        self.ahead.is_empty() && self.more().is_none()
    }

    /// The next so many bytes; none where the connection is closed before.
    ///
    /// # Panics
    /// As [`Self::answer`].
    pub fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        while self.ahead.len() < count {
            self.more()?;
        }
        Some(self.ahead.drain(..count).collect())
    }

    fn chunks(&mut self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.until(b"\r\n")?;
            let size = usize::from_str_radix(std::str::from_utf8(&line).ok()?.trim(), 16).ok()?;
            body.extend(self.take(size)?);
            self.take(2)?;
            if size == 0 {
                return Some(body);
            }
        }
    }

    fn more(&mut self) -> Option<()> {
        let mut buffer = [0; 16 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(0) => None,
            Ok(count) => {
                self.ahead.extend_from_slice(&buffer[..count]);
                Some(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => panic!("nothing comes, not even the end"),
            Err(_reset) => None,
        }
    }
}
