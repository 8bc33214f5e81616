//! The keys that tokens are checked with: a secret, a public key, or a file of public keys; and beside the first two the one before, while
//! a key is changed.

use std::path::PathBuf;

use crate::public_key::{self, PublicAlgorithm};
use crate::reader::Reader;
use crate::secret::Secret;
use crate::weak;

pub(super) const SECRET: &str = "auth.jwt_secret";
const SECRET_PREVIOUS: &str = "auth.jwt_secret_previous";
const PUBLIC_KEY: &str = "auth.jwt_public_key";
const PUBLIC_KEY_PREVIOUS: &str = "auth.jwt_public_key_previous";
const KEY_SET: &str = "auth.jwks_file";
const ALGORITHM: &str = "auth.jwt_algorithm";

/// What tokens are checked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JwtKey {
    /// HS256, 32 bytes or more.
    Secret(Secret),
    /// A public key.
    Public(PublicKey),
    /// A file of public keys.
    File(KeyFile),
}

/// A public key and the one algorithm it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    /// PEM text.
    pub pem: String,
    /// The algorithm that fits it.
    pub algorithm: PublicAlgorithm,
}

/// A file of public keys (JWKS) and the one algorithm that they are used for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFile {
    /// Where it is.
    pub path: PathBuf,
    /// The algorithm; keys for others are passed over.
    pub algorithm: PublicAlgorithm,
}

/// The key, where one is set.
pub(super) fn key(reader: &Reader<'_>) -> Option<JwtKey> {
    let secret: Option<Secret> = reader.get(SECRET);
    let pem = reader.text(PUBLIC_KEY);
    let path = reader.text(KEY_SET);
    let both = [
        (secret.is_some() && pem.is_some(), SECRET, PUBLIC_KEY),
        (secret.is_some() && path.is_some(), SECRET, KEY_SET),
        (pem.is_some() && path.is_some(), PUBLIC_KEY, KEY_SET),
    ];
    for (_, one, other) in both.into_iter().filter(|(both, ..)| *both) {
        reader.conflict(
            one,
            other,
            "tokens are checked with one kind of key; leave one of them out",
        );
    }
    if let Some(path) = path {
        return key_file(reader, path);
    }
    let (name, fits, key) = match (secret, pem) {
        (Some(secret), _) => (SECRET, "HS256", JwtKey::Secret(checked(reader, SECRET, secret))),
        (None, Some(pem)) => {
            let algorithm = public_key::algorithm(&pem)?;
            (
                PUBLIC_KEY,
                algorithm.name(),
                JwtKey::Public(PublicKey { pem, algorithm }),
            )
        }
        (None, None) => {
            reader.get::<String>(ALGORITHM);
            return None;
        }
    };
    let algorithm: String = reader.get(ALGORITHM);
    if algorithm != "auto" && algorithm != fits {
        reader.conflict(
            ALGORITHM,
            name,
            "the key is of another algorithm; \"auto\" takes the key's own",
        );
    }
    Some(key)
}

fn checked(reader: &Reader<'_>, name: &str, secret: Secret) -> Secret {
    if let Some(reason) = weak::reason(secret.reveal()) {
        reader.weak(name, reason);
    }
    secret
}

/// What a file says must not choose how it is used.
fn key_file(reader: &Reader<'_>, path: String) -> Option<JwtKey> {
    let named: String = reader.get(ALGORITHM);
    let all = [PublicAlgorithm::Rs256, PublicAlgorithm::Es256, PublicAlgorithm::EdDsa];
    let Some(algorithm) = all.into_iter().find(|algorithm| algorithm.name() == named) else {
        reader.conflict(
            ALGORITHM,
            KEY_SET,
            "a file of keys is used for one algorithm; set it to RS256, ES256 or EdDSA",
        );
        return None;
    };
    let path = PathBuf::from(path);
    Some(JwtKey::File(KeyFile { path, algorithm }))
}

/// The key before, which must be of the kind of the present one.
pub(super) fn previous(reader: &Reader<'_>, present: Option<&JwtKey>) -> Option<JwtKey> {
    let secret: Option<Secret> = reader.get(SECRET_PREVIOUS);
    let pem = reader.text(PUBLIC_KEY_PREVIOUS);
    let alone = "it counts beside the present key of its kind, which is not set";
    let same = "it is the present key, too";
    match (secret, present) {
        (None, _) => {}
        (Some(secret), Some(JwtKey::Secret(key))) => {
            if secret == *key {
                reader.conflict(SECRET_PREVIOUS, SECRET, same);
            }
            return Some(JwtKey::Secret(checked(reader, SECRET_PREVIOUS, secret)));
        }
        (Some(_), _) => reader.conflict(SECRET_PREVIOUS, SECRET, alone),
    }
    match (pem, present) {
        (None, _) => None,
        (Some(pem), Some(JwtKey::Public(key))) => {
            let algorithm = public_key::algorithm(&pem)?;
            if algorithm != key.algorithm {
                let other = "it is of another algorithm; tokens of one are accepted";
                reader.conflict(PUBLIC_KEY_PREVIOUS, PUBLIC_KEY, other);
            }
            if pem == key.pem {
                reader.conflict(PUBLIC_KEY_PREVIOUS, PUBLIC_KEY, same);
            }
            Some(JwtKey::Public(PublicKey { pem, algorithm }))
        }
        (Some(_), _) => {
            reader.conflict(PUBLIC_KEY_PREVIOUS, PUBLIC_KEY, alone);
            None
        }
    }
}
