//! Commands of which it matters when they were given and when they were answered.

use std::time::Instant;

use serde_json::Value;

use super::{Admin, PREHEAT_LIMIT};
use crate::http::call;
use crate::process::LOOK_EVERY;
use crate::{Error, Result};

/// A request that changes something.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Command {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) body: Value,
}

/// When a command was given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    /// When it was sent, the first time.
    pub(crate) asked: Instant,
    /// When the answer had come that it is done.
    pub(crate) answered: Instant,
}

impl Admin {
    /// Gives the command. Asks again where the server is too busy for it, as its operator would.
    ///
    /// # Errors
    /// [`Error::Answer`] where the server refuses.
    pub(crate) fn tell(&self, command: &Command) -> Result<Told> {
        let Command { method, path, body } = command;
        let asked = Instant::now();
        loop {
            let answer = call(self.address, method, path, Some(&self.token), Some(body))?;
            let answered = Instant::now();
            match answer.status {
                200 | 201 => return Ok(Told { asked, answered }),
                503 if asked.elapsed() < PREHEAT_LIMIT => std::thread::sleep(LOOK_EVERY),
                status => {
                    return Err(Error::Answer {
                        what: format!("{method} {path} {body}"),
                        status,
                        body: String::from_utf8_lossy(&answer.body).into_owned(),
                    });
                }
            }
        }
    }
}
