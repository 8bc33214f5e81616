//! A challenge at the moment at which an answer comes: what it asks, what is right, and the keys of its permits. All of it follows from the
//! nonce and the gate's key.

use hmac::{Hmac, Mac as _};
use seckill_sale::{Challenge, EpochMs};
use sha2::Sha256;

use crate::challenge::Exercise;
use crate::challenge::{captcha, pow};

/// A challenge of this buyer that can still be answered, as far as the gate alone can tell. Before an answer is compared, one of
/// [`crate::CHALLENGE_TRIES_MAX`] permits of [`Attempt::tries_key`] must be taken.
#[derive(Debug, Clone)]
pub struct Attempt {
    pub(crate) keyed: Hmac<Sha256>,
    pub(crate) kind: Challenge,
    pub(crate) bits: u8,
    pub(crate) nonce: [u8; 16],
    pub(crate) expires_at: EpochMs,
}

/// A challenge that was answered rightly. It gives a token once the one permit of [`Solved::use_key`] was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Solved {
    pub(crate) kind: Challenge,
    use_key: [u8; 16],
    expires_at: EpochMs,
}

impl Attempt {
    /// Key of the permits for tries.
    #[must_use]
    pub fn tries_key(&self) -> [u8; 16] {
        self.permit_key(b"tries")
    }

    /// Until when permits of this challenge must be remembered: exactly as long as it can be answered, so that a store whose clock is ahead
    /// gives none out rather than one that it does not remember.
    #[must_use]
    pub const fn until(&self) -> EpochMs {
        self.expires_at
    }

    /// Whether `answer` is right.
    #[must_use]
    pub fn solved_by(&self, answer: &str) -> Option<Solved> {
        let is_right = match self.kind {
            Challenge::Captcha => captcha::is_answer(&mut self.stream(), answer),
            Challenge::Pow => pow::is_answer(&self.prefix(), self.bits, answer),
            Challenge::None | Challenge::Token => false,
        };
        is_right.then(|| Solved {
            kind: self.kind,
            use_key: self.permit_key(b"use"),
            expires_at: self.expires_at,
        })
    }

    pub(crate) fn exercise(&self) -> Exercise {
        match self.kind {
            Challenge::Captcha => Exercise::Captcha {
                image: captcha::image(&mut self.stream()),
            },
            _ => Exercise::Pow {
                prefix: self.prefix(),
                bits: self.bits,
            },
        }
    }

    pub(crate) fn stream(&self) -> Stream {
        Stream {
            keyed: self.of_nonce(b"exercise"),
            block: [0; 32],
            blocks: 0,
            at: 32,
        }
    }

    fn prefix(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.key(b"prefix")))
    }

    /// Of another kind than the nonces of clients: a flood of the one leaves room for the other.
    fn permit_key(&self, purpose: &[u8]) -> [u8; 16] {
        let mut key = self.key(purpose);
        key[0] &= 0x7f;
        key
    }

    /// Half of a keyed hash of the nonce, another one for each use.
    fn key(&self, purpose: &[u8]) -> [u8; 16] {
        let whole = self.of_nonce(purpose).finalize().into_bytes();
        *whole.first_chunk().expect("thirty-two bytes")
    }

    fn of_nonce(&self, purpose: &[u8]) -> Hmac<Sha256> {
        let mut keyed = self.keyed.clone();
        keyed.update(&[purpose.len() as u8]);
        keyed.update(purpose);
        keyed.update(&self.nonce);
        keyed
    }
}

impl Solved {
    /// Key of the permit for its one use.
    #[must_use]
    pub const fn use_key(&self) -> [u8; 16] {
        self.use_key
    }

    /// As [`Attempt::until`].
    #[must_use]
    pub const fn until(&self) -> EpochMs {
        self.expires_at
    }
}

/// Numbers that follow from key and nonce.
pub(crate) struct Stream {
    keyed: Hmac<Sha256>,
    block: [u8; 32],
    blocks: u32,
    at: usize,
}

impl Stream {
    fn word(&mut self) -> u32 {
        if self.at == self.block.len() {
            let mut keyed = self.keyed.clone();
            keyed.update(&self.blocks.to_be_bytes());
            self.block = keyed.finalize().into_bytes().into();
            self.blocks += 1;
            self.at = 0;
        }
        let four = self.block[self.at..].first_chunk().expect("blocks are whole numbers");
        self.at += 4;
        u32::from_be_bytes(*four)
    }

    /// A number from 0 to below `end`; some are likelier than others by less than one part in a million.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        self.word() % end
    }
}
