//! What a buyer would answer. Work is done; a picture is not read: its sum is computed from the house's secret, as the server computes it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use seckill_gate::derived_secret;
use sha2::{Digest as _, Sha256};

/// The sum that a captcha's picture shows.
pub(crate) fn captcha_answer(id: &str) -> String {
    let bytes = URL_SAFE_NO_PAD.decode(id).expect("an id");
    let secret = derived_secret(&[7; 32], "challenges");
    let mut keyed = Hmac::<Sha256>::new_from_slice(&secret).expect("any length");
    for part in [b"\x08exercise", &bytes[11..27], &[0; 4]] {
        keyed.update(part);
    }
    let block: [u8; 32] = keyed.finalize().into_bytes().into();
    let word = |nth: usize| u32::from_be_bytes(block[nth * 4..nth * 4 + 4].try_into().expect("four bytes"));
    let (first, second) = (100 + word(0) % 900, 2 + word(1) % 8);
    match word(2) % 2 {
        1 => first - second,
        _ => first + second,
    }
    .to_string()
}

/// A right answer to a work of at most eight bits, and a wrong one.
pub(crate) fn pow_answer(prefix: &str, bits: u32) -> (String, String) {
    let is_right = |answer: &String| {
        let hash = Sha256::digest(format!("{prefix}{answer}"));
        u32::from(hash[0]) < 1 << (8 - bits)
    };
    let answers = || (0_u32..).map(|n| n.to_string());
    let right = answers().find(is_right).expect("there is one");
    let wrong = answers().find(|answer| !is_right(answer)).expect("there is one");
    (right, wrong)
}
