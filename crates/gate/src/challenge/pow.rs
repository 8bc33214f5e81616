//! Work: a text so that SHA-256 of prefix and text begins with enough zero bits. Checking it is one hash.

use sha2::{Digest as _, Sha256};

use crate::challenge::ANSWER_LENGTH_MAX;

pub(crate) fn is_answer(prefix: &str, bits: u8, answer: &str) -> bool {
    let hash = Sha256::new().chain_update(prefix).chain_update(answer).finalize();
    answer.chars().count() <= ANSWER_LENGTH_MAX && u32::from(bits) <= zero_bits(&hash)
}

fn zero_bits(hash: &[u8]) -> u32 {
    let whole = hash.iter().take_while(|byte| **byte == 0).count();
    let rest = hash.get(whole).map_or(0, |byte| byte.leading_zeros());
    whole as u32 * 8 + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_bits_are_counted_from_the_front() {
        for (hash, bits) in [
            (&[0x80_u8, 0][..], 0),
            (&[0x01, 0], 7),
            (&[0, 0xff], 8),
            (&[0, 0, 0x10], 19),
            (&[0, 0], 16),
        ] {
            assert_eq!(zero_bits(hash), bits, "{hash:?}");
        }
    }

    /// SHA-256 of "abc" begins with ba.
    #[test]
    fn an_answer_is_right_where_the_hash_of_prefix_and_answer_has_the_bits() {
        assert!(is_answer("a", 0, "bc"));
        assert!(!is_answer("a", 1, "bc"));
        let mut answers = (0..100_000_u32).map(|n| n.to_string());
        let found = answers.find(|answer| is_answer("prefix", 10, answer));
        let found = found.expect("one in a thousand is right");
        assert!(is_answer("prefix", 9, &found) && !is_answer("prefix", 30, &found));
        assert!(!is_answer("", 0, &"1".repeat(65)));
    }
}
