//! What tests ask a server, past the engine.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use super::{PATIENCE, Redis};

impl Redis {
    /// Sends one command and returns the beginning of its answer as it stands on the wire.
    ///
    /// # Errors
    /// Nobody answers.
    pub fn command(&self, words: &[&str]) -> io::Result<String> {
        const ANSWER_BYTES_MAX: usize = 65_536;
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut request = format!("*{}\r\n", words.len());
        words
            .iter()
            .for_each(|word| request.push_str(&format!("${}\r\n{word}\r\n", word.len())));
        stream.write_all(request.as_bytes())?;
        let mut answer = vec![0; ANSWER_BYTES_MAX];
        let length = stream.read(&mut answer)?;
        answer.truncate(length);
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    /// The same where only this answer will do.
    ///
    /// # Panics
    /// Where another one comes, or none.
    pub fn expect(&self, words: &[&str], answer: &str) {
        let said = self.command(words);
        assert!(
            said.as_ref().is_ok_and(|said| said.starts_with(answer)),
            "{words:?}: {said:?}"
        );
    }

    /// A number that it tells of its replication, by the beginning of its line; none where it does not answer, or has none of this name.
    #[must_use]
    pub fn replication(&self, field: &str) -> Option<u64> {
        let said = self.command(&["INFO", "replication"]).ok()?;
        let line = said.lines().find_map(|line| line.strip_prefix(field))?;
        line.trim().parse().ok()
    }

    /// Asks until the answer contains this text.
    ///
    /// # Panics
    /// With the last answer, where that takes too long.
    pub fn until(&self, words: &[&str], text: &str) {
        let end = Instant::now() + PATIENCE;
        loop {
            let said = self.command(words);
            if said.as_ref().is_ok_and(|said| said.contains(text)) {
                return;
            }
            assert!(
                Instant::now() < end,
                "{words:?}: no {text} in time; at last {said:?}; log: {}",
                self.log()
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Empties the server, as an operator's mistake would.
    ///
    /// # Panics
    /// Where it does not answer.
    pub fn flush_all(&self) {
        self.expect(&["FLUSHALL"], "+OK");
    }
}
