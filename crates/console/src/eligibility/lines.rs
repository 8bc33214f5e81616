//! A text of users as it comes in parts, one id a line. What is kept of a line is 8 bytes.

use std::hash::{BuildHasher, RandomState};

use seckill_gate::{ELIGIBLE_USERS_MAX, fingerprint};
use seckill_ledger::{EligibleForm, EligibleList};
use seckill_sale::UserId;

use crate::error::Error;

/// Bytes of a line: the longest user id and its end, with room for what is wrong with it.
const LINE_BYTES_MAX: usize = 256;

/// The lines of a text that comes in parts.
pub(super) struct Lines {
    salt: [u8; 16],
    fingerprints: Vec<u64>,
    /// What came of the line that has not ended yet.
    begun: Vec<u8>,
    users_max: usize,
}

impl Lines {
    /// Of a list that there never was before.
    pub(super) fn salted() -> Self {
        Self::new(salt())
    }

    const fn new(salt: [u8; 16]) -> Self {
        Self {
            salt,
            fingerprints: Vec::new(),
            begun: Vec::new(),
            users_max: ELIGIBLE_USERS_MAX,
        }
    }

    pub(super) fn push(&mut self, data: &[u8]) -> Result<(), Error> {
        let mut parts = data.split(|&byte| byte == b'\n');
        // There is always a last part: it begins a line, or goes on with one.
        let rest = parts.next_back().unwrap_or_default();
        for part in parts {
            self.begin(part)?;
            self.end()?;
        }
        self.begin(rest)
    }

    fn begin(&mut self, part: &[u8]) -> Result<(), Error> {
        if LINE_BYTES_MAX < self.begun.len() + part.len() {
            return Err(self.refused("is too long"));
        }
        self.begun.extend_from_slice(part);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        let line = self.begun.strip_suffix(b"\r").unwrap_or(&self.begun);
        let user = std::str::from_utf8(line).ok().and_then(|line| UserId::new(line).ok());
        let Some(user) = user else {
            return Err(self.refused("is no user id"));
        };
        if self.fingerprints.len() == self.users_max {
            return Err(self.refused("is one more than a list may have"));
        }
        self.fingerprints.push(fingerprint(&self.salt, &user));
        self.begun.clear();
        Ok(())
    }

    fn refused(&self, why: &'static str) -> Error {
        Error::invalid(format!("line {}", self.fingerprints.len() + 1), why)
    }

    /// The last line may do without its end.
    pub(super) fn into_list(mut self) -> Result<EligibleList, Error> {
        if !self.begun.is_empty() {
            self.end()?;
        }
        if self.fingerprints.is_empty() {
            let why = "must name at least one user; DELETE takes a list away";
            return Err(Error::invalid("body", why));
        }
        Ok(EligibleList {
            form: EligibleForm::Users { salt: self.salt },
            bytes: self.fingerprints.iter().flat_map(|print| print.to_be_bytes()).collect(),
        })
    }
}

/// 16 bytes that nobody can guess: two hashes under keys that the system's source of randomness made.
fn salt() -> [u8; 16] {
    let half = || RandomState::new().hash_one("a list of users").to_be_bytes();
    let mut salt = [0; 16];
    salt[..8].copy_from_slice(&half());
    salt[8..].copy_from_slice(&half());
    salt
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
