//! User tokens: HS256 JWTs made by hand.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Far enough ahead for every test: 2100-01-01.
const EXPIRES_AT_S: i64 = 4_102_444_800;

/// A token of `user` signed with `secret`.
#[must_use]
pub fn token(user: &str, secret: &str) -> String {
    let claims = serde_json::json!({"sub": user, "exp": EXPIRES_AT_S}).to_string();
    signed(r#"{"alg":"HS256","typ":"JWT"}"#, &claims, secret)
}

/// A token with this head and these claims, whatever they say, signed as HS256 is.
#[must_use]
pub fn signed(head: &str, claims: &str, secret: &str) -> String {
    let (head, claims) = (BASE64.encode(head), BASE64.encode(claims));
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key of any length will do");
    mac.update(format!("{head}.{claims}").as_bytes());
    format!("{head}.{claims}.{}", BASE64.encode(mac.finalize().into_bytes()))
}
