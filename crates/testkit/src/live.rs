//! The live figures of a server, as whoever watches them reads them.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::Server;
use crate::server::ADMIN_TOKEN;
use crate::waiting::PATIENCE;

/// An open stream of live figures.
#[derive(Debug)]
pub struct Live(BufReader<TcpStream>);

impl Server {
    /// Opens a stream of live figures.
    ///
    /// # Panics
    /// Where the admin port can't be reached.
    #[must_use]
    pub fn live(&self) -> Live {
        let mut stream = TcpStream::connect(self.admin).expect("the admin port answers");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        write!(
            stream,
            "GET /admin/api/live HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {ADMIN_TOKEN}\r\n\r\n",
            self.admin
        )
        .expect("the admin port answers");
        Live(BufReader::new(stream))
    }
}

impl Live {
    /// The next line of the stream, its head and comments included; none at its end.
    ///
    /// # Panics
    /// Where none comes in time.
    pub fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let length = self.0.read_line(&mut line).expect("a line in time");
        (length != 0).then_some(line)
    }

    /// The next event; none at the stream's end.
    ///
    /// # Panics
    /// Where it is no JSON.
    pub fn event(&mut self) -> Option<Value> {
        loop {
            if let Some(data) = self.line()?.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).expect("JSON"));
            }
        }
    }

    /// The first event that is as wanted.
    ///
    /// # Panics
    /// Where the stream ends, or sixty events are not.
    pub fn until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        for _ in 0..60 {
            last = self.event().expect("the stream goes on");
            if is_wanted(&last) {
                return last;
            }
        }
        panic!("not in time; at last {last}")
    }
}
