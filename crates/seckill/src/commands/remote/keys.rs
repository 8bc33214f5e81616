//! Idempotency keys of the writes of one command: whoever did not hear what became of it gives it again with the same key, and it is done
//! once.

use std::cell::Cell;

use rand::RngExt;

use crate::exit::Failure;

/// Longest key that `--idempotency-key` takes, in characters: a server takes 64, and the writes of one command are numbered behind it.
const LENGTH_MAX: usize = 60;

/// The keys of one command.
#[derive(Debug)]
pub(super) struct Keys {
    base: String,
    /// Whether whoever gave the command named it.
    is_given: bool,
    used: Cell<u32>,
}

impl Keys {
    /// With the key that was given, or with one that nobody has used.
    pub(super) fn of(given: Option<&str>) -> Result<Self, Failure> {
        let Some(given) = given else { return Ok(Self::made()) };
        let is_fine = (1..=LENGTH_MAX).contains(&given.len()) && given.bytes().all(|byte| byte.is_ascii_graphic());
        let keys = Self {
            base: given.to_owned(),
            is_given: true,
            used: Cell::new(0),
        };
        is_fine.then_some(keys).ok_or_else(|| {
            Failure::usage(format!(
                "--idempotency-key must have 1 to {LENGTH_MAX} visible ASCII characters"
            ))
        })
    }

    /// With one that nobody has used.
    pub(super) fn made() -> Self {
        let number: u128 = rand::rng().random();
        Self {
            base: format!("cli-{number:032x}"),
            is_given: false,
            used: Cell::new(0),
        }
    }

    /// The key of the command's next write; none of a request that is harmless to repeat as it is. The same command, given again, has
    /// the same requests in the same order, and so the same keys.
    pub(super) fn next(&self, method: &str) -> Option<String> {
        let is_set = method == "PATCH" && !self.is_given;
        if method == "GET" || is_set {
            return None;
        }
        self.used.set(self.used.get() + 1);
        Some(match self.used.get() {
            1 => self.base.clone(),
            number => format!("{}-{number}", self.base),
        })
    }

    /// The failure of a write that may have been done, with the way to find out.
    pub(super) fn name_in(&self, failure: Failure) -> Failure {
        failure.and(format!(
            "given again with --idempotency-key {} the command is carried out once",
            self.base
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_given_again_has_the_same_keys_and_another_one_has_others() {
        let keys = Keys::of(Some("mine")).unwrap();
        let asked = ["POST", "GET", "POST", "PUT", "PATCH"].map(|method| keys.next(method));
        let expected = [Some("mine"), None, Some("mine-2"), Some("mine-3"), Some("mine-4")];
        assert_eq!(asked.each_ref().map(Option::as_deref), expected);
        let [first, second] =
            [Keys::of(None).unwrap(), Keys::made()].map(|keys| (keys.next("PATCH"), keys.next("POST")));
        assert!(first.0.is_none() && first.1.is_some() && first != second, "{first:?}");
    }

    #[test]
    fn a_key_that_no_server_takes_is_refused() {
        let long = "k".repeat(LENGTH_MAX + 1);
        for key in ["", "two words", "schlüssel", &long] {
            assert!(Keys::of(Some(key)).is_err(), "{key}");
        }
        assert!(Keys::of(Some(&long[1..])).is_ok());
    }
}
