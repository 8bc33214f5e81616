//! A key set of an issuer (JWKS, RFC 7517), as a file: which of its keys count here.
//!
//! Counted are keys that say `"use": "sig"` and fit the one algorithm of the settings. Others are passed over: an issuer may publish keys for
//! encryption, and of other algorithms, beside them. Refused as a whole is a file with a private or a symmetric key in it: such a file is a
//! secret that has gone astray, and should not be where it is.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::DecodingKey;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::identity::object::Object;
use crate::identity::public_keys::{KEYS_MAX, PublicKey};
use crate::identity::{Error, PublicAlgorithm};

/// Largest file, in bytes; eight keys of 4096 bits with certificates have room in it.
pub const JWKS_BYTES_MAX: usize = 64 * 1024;
/// Bytes of an RSA modulus: 2048 to 8192 bits.
const MODULUS_BYTES: std::ops::RangeInclusive<usize> = 256..=1024;
/// Bytes of a coordinate of P-256, and of an Ed25519 key.
const POINT_BYTES: usize = 32;

#[derive(Deserialize)]
struct Set {
    keys: Vec<Object<Jwk>>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    #[serde(rename = "use")]
    usage: Option<String>,
    alg: Option<String>,
    kid: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
    // Private members (RFC 7518 6.2.2, 6.3.2, 6.4.1; RFC 8037 2).
    d: Option<IgnoredAny>,
    p: Option<IgnoredAny>,
    q: Option<IgnoredAny>,
    dp: Option<IgnoredAny>,
    dq: Option<IgnoredAny>,
    qi: Option<IgnoredAny>,
    oth: Option<IgnoredAny>,
    k: Option<IgnoredAny>,
}

/// The keys of a file that count for this algorithm.
///
/// # Errors
/// [`Error::KeySet`]: nothing of the file is used.
pub(crate) fn keys(algorithm: PublicAlgorithm, text: &str) -> Result<Vec<PublicKey>, Error> {
    if JWKS_BYTES_MAX < text.len() {
        return Err(Error::KeySet("it is larger than 64 KiB"));
    }
    let Object(Set { keys }) =
        serde_json::from_str(text).map_err(|_| Error::KeySet("it is not JSON of the form {\"keys\": [{…}]}"))?;
    if keys.iter().any(|Object(key)| key.kty == "oct" || key.k.is_some()) {
        return Err(Error::KeySet(
            "it has a symmetric key, which only auth.jwt_secret may be",
        ));
    }
    if keys.iter().any(|Object(key)| key.is_private()) {
        return Err(Error::KeySet(
            "it has a private key, which should stay with the issuer of the tokens",
        ));
    }
    let keys: Vec<PublicKey> = keys
        .iter()
        .filter(|Object(key)| key.is_for(algorithm))
        .map(|Object(key)| key.public(algorithm))
        .collect::<Result<_, _>>()?;
    if keys.is_empty() {
        return Err(Error::KeySet(
            "none of its keys has \"use\": \"sig\" and fits auth.jwt_algorithm",
        ));
    }
    if KEYS_MAX < keys.len() {
        return Err(Error::KeySet("more than 8 of its keys count"));
    }
    let mut names = HashSet::new();
    if keys
        .iter()
        .filter_map(|key| key.name.as_ref())
        .any(|name| !names.insert(name))
    {
        return Err(Error::KeySet("two of its keys have the same \"kid\""));
    }
    Ok(keys)
}

impl Jwk {
    fn is_private(&self) -> bool {
        [&self.d, &self.p, &self.q, &self.dp, &self.dq, &self.qi, &self.oth]
            .iter()
            .any(|member| member.is_some())
    }

    fn is_for(&self, algorithm: PublicAlgorithm) -> bool {
        let (kty, crv, alg) = match algorithm {
            PublicAlgorithm::Rs256 => ("RSA", None, "RS256"),
            PublicAlgorithm::Es256 => ("EC", Some("P-256"), "ES256"),
            PublicAlgorithm::EdDsa => ("OKP", Some("Ed25519"), "EdDSA"),
        };
        let named = self.alg.as_deref().is_none_or(|named| named == alg);
        self.usage.as_deref() == Some("sig") && self.kty == kty && self.crv.as_deref() == crv && named
    }

    fn public(&self, algorithm: PublicAlgorithm) -> Result<PublicKey, Error> {
        let broken = Error::KeySet("a number of one of its keys is missing, or not of the length that it must have");
        let key = match algorithm {
            PublicAlgorithm::Rs256 => match (number(&self.n), number(&self.e)) {
                (Some(n), Some(e)) if MODULUS_BYTES.contains(&n.len()) && (1..=8).contains(&e.len()) => {
                    DecodingKey::from_rsa_raw_components(&n, &e)
                }
                _ => return Err(broken),
            },
            PublicAlgorithm::Es256 => match (&self.x, &self.y) {
                (Some(x), Some(y)) if is_point(x) && is_point(y) => {
                    DecodingKey::from_ec_components(x, y).map_err(Error::Key)?
                }
                _ => return Err(broken),
            },
            PublicAlgorithm::EdDsa => match &self.x {
                Some(x) if is_point(x) => DecodingKey::from_ed_components(x).map_err(Error::Key)?,
                _ => return Err(broken),
            },
        };
        let name = self.kid.as_deref().filter(|kid| !kid.is_empty()).map(Box::from);
        Ok(PublicKey { name, key })
    }
}

/// The bytes of a number, without zeros in front.
fn number(text: &Option<String>) -> Option<Vec<u8>> {
    let bytes = URL_SAFE_NO_PAD.decode(text.as_deref()?).ok()?;
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    Some(bytes[zeros..].to_vec())
}

fn is_point(text: &str) -> bool {
    URL_SAFE_NO_PAD
        .decode(text)
        .is_ok_and(|bytes| bytes.len() == POINT_BYTES)
}
