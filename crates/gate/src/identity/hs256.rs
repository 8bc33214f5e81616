//! HS256 tokens (RFC 7515, RFC 7518 3.2): the signature check that every buyer's first click pays for.
//!
//! Public-key tokens go through `jsonwebtoken`. For HS256 it derives the key's two hash states anew, parses the header, and parses the claims
//! twice for each token: about 14,000 instructions, more than all the rest of a refusal. Here the states are made once, the header
//! that all tokens of an issuer share is compared, and the claims are read once. A test holds both against each other.

use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use serde::de::IgnoredAny;
use sha2::Sha256;

use crate::identity::claims::Claims;
use crate::identity::object::Object;

/// Bytes of a signature.
const TAG_BYTES: usize = 32;
/// A little more than a signature's text decodes to, so that a longer one is seen.
const TAG_BUFFER_BYTES: usize = 48;

/// Checks tokens with one secret.
pub(crate) struct Hs256 {
    keyed: Hmac<Sha256>,
    /// The header, still encoded, of the first token that was good.
    usual_header: OnceLock<Box<str>>,
}

impl std::fmt::Debug for Hs256 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hs256").finish_non_exhaustive()
    }
}

/// What a header may select: nothing. It is only held against what is configured.
#[derive(Deserialize)]
struct Header<'a> {
    alg: &'a str,
    #[serde(default)]
    crit: Option<IgnoredAny>,
    #[serde(default)]
    b64: Option<bool>,
}

impl Hs256 {
    pub(crate) fn new(secret: &[u8]) -> Self {
        let keyed = Hmac::new_from_slice(secret).expect("HMAC takes keys of every length");
        Self {
            keyed,
            usual_header: OnceLock::new(),
        }
    }

    /// The claims of a token whose signature is right; nothing of it is parsed before.
    pub(crate) fn claims(&self, token: &str) -> Option<Claims> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let mut tag = [0; TAG_BUFFER_BYTES];
        let length = URL_SAFE_NO_PAD.decode_slice(signature, &mut tag).ok()?;
        if length != TAG_BYTES {
            return None;
        }
        let mut mac = self.keyed.clone();
        mac.update(signed.as_bytes());
        mac.verify_slice(&tag[..TAG_BYTES]).ok()?;
        if self.usual_header.get().is_none_or(|usual| **usual != *header) {
            if !is_hs256(header) {
                return None;
            }
            let _ = self.usual_header.set(header.into());
        }
        let Object(claims) = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
        Some(claims)
    }
}

/// `crit` names extensions that must be understood; none is, and claims that are not in base64 (RFC 7797) would be one.
fn is_hs256(header: &str) -> bool {
    let text = URL_SAFE_NO_PAD.decode(header).unwrap_or_default();
    serde_json::from_slice::<Object<Header<'_>>>(&text)
        .is_ok_and(|Object(header)| header.alg == "HS256" && header.crit.is_none() && header.b64 != Some(false))
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::{Algorithm, DecodingKey, Validation};

    use super::*;

    const SECRET: &[u8] = b"a secret of thirty-two bytes or more";

    fn signed(header: &str, claims: &str) -> String {
        let text = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
        let mut mac = Hmac::<Sha256>::new_from_slice(SECRET).expect("a key");
        mac.update(text.as_bytes());
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
    }

    fn by_library(token: &str) -> Option<Claims> {
        let mut validation = Validation::new(Algorithm::HS256);
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.validate_aud = false;
        validation.set_required_spec_claims::<&str>(&[]);
        let key = DecodingKey::from_secret(SECRET).expect("a key");
        let decoded = jsonwebtoken::decode::<Claims>(token, &key, &validation).ok()?;
        decoded.header.crit.is_none().then_some(decoded.claims)
    }

    #[test]
    fn claims_are_those_that_the_library_reads() {
        let header = r#"{"typ":"JWT","alg":"HS256"}"#;
        let good = [
            r#"{"sub":"u","exp":9}"#,
            r#"{"exp":9,"nbf":1,"sub":"a@b","iss":"x","aud":["p","q"],"level":{"vip":[1]}}"#,
            r#" {"sub" : "u" , "exp" : -1}"#,
        ];
        let bad = [
            r#"{"sub":"u"}"#,
            r#"{"exp":9}"#,
            r#"{"sub":"u","exp":9,"exp":9}"#,
            r#"{"sub":"u","exp":1.5}"#,
            r#"{"sub":"a b","exp":1}"#,
            r#"{"sub":"u","exp":1} x"#,
            "",
            "null",
        ];
        let checker = Hs256::new(SECRET);
        for claims in good.iter().chain(&bad) {
            let token = signed(header, claims);
            assert_eq!(checker.claims(&token), by_library(&token), "{claims}");
        }
        assert_eq!(
            checker.claims(&signed(header, r#"["u",9]"#)),
            None,
            "an array is no claims"
        );
        let all_read = |claims: &&str| checker.claims(&signed(header, claims)).is_some();
        assert!(good.iter().all(all_read) && !bad.iter().any(all_read));
    }

    #[test]
    fn header_is_checked_also_after_a_good_one() {
        let (checker, claims) = (Hs256::new(SECRET), r#"{"sub":"u","exp":9}"#);
        for header in [
            r#"{"alg":"HS256"}"#,
            r#"{"alg":"HS256","kid":"1","x":2}"#,
            r#"{"alg":"HS256","crit":null}"#,
        ] {
            assert!(checker.claims(&signed(header, claims)).is_some(), "{header}");
        }
        for header in [
            "{}",
            r#"["HS256"]"#,
            "",
            r#"{"alg":"none"}"#,
            r#"{"alg":"HS512"}"#,
            r#"{"alg":"HS256","crit":["b64"]}"#,
        ] {
            assert_eq!(checker.claims(&signed(header, claims)), None, "{header}");
        }
    }

    proptest::proptest! {
        /// Whatever is done to a good token, both come to the same.
        #[test]
        fn changed_token_is_refused_where_the_library_refuses_it(at in 0usize..200, byte in 0u8..128, kind in 0u8..3) {
            let mut token = signed(r#"{"alg":"HS256"}"#, r#"{"sub":"somebody","exp":9}"#).into_bytes();
            let at = at % token.len();
            match kind {
                0 => token[at] = byte,
                1 => token.insert(at, byte),
                _ => drop(token.remove(at)),
            }
            let token = String::from_utf8(token).expect("ASCII");
            proptest::prop_assert_eq!(Hs256::new(SECRET).claims(&token), by_library(&token));
        }
    }
}
