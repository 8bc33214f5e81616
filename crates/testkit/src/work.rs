//! The proof of work that a sale may ask for, done as a buyer's page does it.

use sha2::{Digest, Sha256};

/// A text so that SHA-256 of `prefix` and it begins with so many zero bits.
///
/// # Panics
/// Where none of four thousand million texts does.
#[must_use]
pub fn work(prefix: &str, bits: u32) -> String {
    let is_right = |answer: &String| {
        let hash = Sha256::digest(format!("{prefix}{answer}"));
        let first = hash.first_chunk().expect("thirty-two bytes");
        bits <= u64::from_be_bytes(*first).leading_zeros()
    };
    let mut answers = (0..u32::MAX).map(|n| n.to_string());
    answers.find(is_right).expect("an answer")
}
