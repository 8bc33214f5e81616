//! Which secrets are refused because they can be guessed: short ones, repeated ones, and the ones that stand in examples.
//! This is not a measure of strength: a secret that was made by a random generator always passes.

/// Fewer bytes than an HS256 key should have.
const BYTES_MIN: usize = 32;
/// A random secret of 32 hexadecimal digits has 14 different ones on average.
const DISTINCT_MIN: usize = 6;
/// Longest unit whose repetition is found, such as "changeme" or "0123456789".
const UNIT_MAX: usize = 10;

/// What example secrets are made of. A secret that consists of nothing else is somebody's example.
const WORDS: &[&str] = &[
    "0123456789",
    "1234567890",
    "123456789",
    "12345678",
    "123456",
    "1234",
    "123",
    "256",
    "a",
    "abc",
    "admin",
    "an",
    "at",
    "auth",
    "be",
    "bit",
    "bits",
    "change",
    "changeit",
    "changeme",
    "default",
    "dev",
    "development",
    "do",
    "example",
    "for",
    "hmac",
    "hs256",
    "in",
    "insecure",
    "is",
    "it",
    "jwt",
    "key",
    "least",
    "letmein",
    "long",
    "me",
    "must",
    "my",
    "not",
    "of",
    "password",
    "please",
    "private",
    "prod",
    "production",
    "qwerty",
    "qwertyuiop",
    "replace",
    "sample",
    "seckill",
    "secret",
    "secrets",
    "secure",
    "shared",
    "sign",
    "signing",
    "string",
    "super",
    "test",
    "testing",
    "the",
    "this",
    "to",
    "token",
    "use",
    "value",
    "very",
    "with",
    "your",
];

/// Why a secret is refused; `None` where it is accepted.
pub(crate) fn reason(secret: &str) -> Option<&'static str> {
    if secret.len() < BYTES_MIN {
        return Some("it is shorter than 32 bytes");
    }
    if distinct(secret) < DISTINCT_MIN {
        return Some("it has fewer than 6 different characters");
    }
    if (1..=UNIT_MAX).any(|unit| repeats(secret.as_bytes(), unit)) {
        return Some("it repeats a short text");
    }
    made_of_words(secret).then_some("it is an example, known to everybody")
}

fn distinct(secret: &str) -> usize {
    let mut bytes = secret.as_bytes().to_vec();
    bytes.sort_unstable();
    bytes.dedup();
    bytes.len()
}

fn repeats(bytes: &[u8], unit: usize) -> bool {
    bytes.iter().zip(&bytes[unit..]).all(|(left, right)| left == right)
}

fn made_of_words(secret: &str) -> bool {
    let text: String = secret
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_ascii_lowercase();
    // reachable[i]: the first i characters are words.
    let mut reachable = vec![false; text.len() + 1];
    reachable[0] = true;
    for start in 0..text.len() {
        if reachable[start] {
            for word in WORDS.iter().filter(|word| text[start..].starts_with(**word)) {
                reachable[start + word.len()] = true;
            }
        }
    }
    reachable[text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guessable_secrets_are_refused() {
        let check = |secret: &str, part: &str| {
            assert!(
                reason(secret).is_some_and(|reason| reason.contains(part)),
                "{secret}: {:?}",
                reason(secret)
            );
        };
        check("", "shorter");
        check("secret", "shorter");
        check("0f9b2c47d1e88a635b7c90e1f2a3d4c", "shorter");
        check(&"x".repeat(64), "fewer than 6");
        check(&"abcd".repeat(10), "fewer than 6");
        check(&"changeme".repeat(5), "repeats");
        check(&"1234567890".repeat(4), "repeats");
        check("a-string-secret-at-least-256-bits-long", "example");
        check("please_change_this_secret_in_production", "example");
        check("My Super Secret JWT Signing Key 123", "example");
    }

    #[test]
    fn generated_secrets_are_accepted() {
        for secret in [
            "0f9b2c47d1e88a635b7c90e1f2a3d4c5",
            "5Qp0rI3xv1rJm3cB8sQyLqv9d0o5n7kq3W1r2T4y6U8=",
            "held-by-the-night-shift-0123456789abcdef",
        ] {
            assert_eq!(reason(secret), None, "{secret}");
        }
    }
}
