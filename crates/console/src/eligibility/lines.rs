//! A text with one user id a line, read in the parts in which it comes. What is kept of a line is 8 bytes.

use seckill_gate::{ELIGIBLE_USERS_MAX, EligibleUsers, fingerprint};
use seckill_ledger::{EligibleForm, EligibleList};
use seckill_sale::UserId;

use super::upload::Listed;
use crate::error::Error;

/// Bytes of a line: the longest user id and its end, with room for what is wrong with it.
const LINE_BYTES_MAX: usize = 256;

/// With which some programs begin a text in UTF-8: it belongs to no line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The lines of a text that comes in parts.
pub(super) struct Lines {
    salt: [u8; 16],
    fingerprints: Vec<u64>,
    /// What came of the line that has not ended yet.
    begun: Vec<u8>,
    users_max: usize,
}

impl Lines {
    pub(super) const fn new(salt: [u8; 16]) -> Self {
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
        let before_it = if self.fingerprints.is_empty() {
            BYTE_ORDER_MARK
        } else {
            b""
        };
        let line = line.strip_prefix(before_it).unwrap_or(line);
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

    /// The last line may do without its end. What the ledger keeps is in order, so that every node that reads it has nothing left to sort.
    pub(super) fn into_list(mut self) -> Result<Listed, Error> {
        if !self.begun.is_empty() {
            self.end()?;
        }
        if self.fingerprints.is_empty() {
            let why = "must name at least one user; DELETE takes a list away";
            return Err(Error::invalid("body", why));
        }
        let looked_up = EligibleUsers::of_fingerprints(0, self.salt, self.fingerprints);
        let sorted = looked_up.fingerprints().unwrap_or_default();
        let kept = EligibleList {
            form: EligibleForm::Users { salt: self.salt },
            bytes: sorted.iter().flat_map(|print| print.to_be_bytes()).collect(),
        };
        Ok(Listed { kept, looked_up })
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
