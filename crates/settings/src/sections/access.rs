//! Who a buyer is and how often he may come.

use std::time::Duration;

use super::Server;
use crate::error::Error;
use crate::public_key::{self, PublicAlgorithm};
use crate::reader::Reader;
use crate::secret::Secret;
use crate::weak;

const SECRET: &str = "auth.jwt_secret";
const PUBLIC_KEY: &str = "auth.jwt_public_key";
const ALGORITHM: &str = "auth.jwt_algorithm";

/// Where the buyer's identity comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthMode {
    /// A signed token.
    Jwt,
    /// `X-User-Id`, from trusted proxies only.
    Gateway,
}

/// The one key that tokens are checked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JwtKey {
    /// HS256, 32 bytes or more.
    Secret(Secret),
    /// A public key.
    Public(PublicKey),
}

/// A public key and the one algorithm it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    /// PEM text.
    pub pem: String,
    /// The algorithm that fits it.
    pub algorithm: PublicAlgorithm,
}

/// Whom a request comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Auth {
    /// Where the identity comes from.
    pub mode: AuthMode,
    /// The key of tokens, where one is set; [`super::Settings::require_auth`] insists on it.
    pub key: Option<JwtKey>,
    /// The `aud` that a token must name.
    pub audience: Option<String>,
    /// The `iss` that a token must name.
    pub issuer: Option<String>,
    /// How long a token is accepted after its `exp`.
    pub leeway: Duration,
}

/// How a server tells buyers apart; proof that what it needs is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity<'a> {
    /// By tokens that this key checks.
    Jwt(&'a JwtKey),
    /// By `X-User-Id` of trusted proxies.
    Gateway,
}

impl Auth {
    pub(super) fn narrow(reader: &Reader<'_>, server: &Server) -> Self {
        let gateway = reader.get::<String>("auth.mode") == "gateway";
        if gateway && server.trusted_proxies.is_empty() {
            reader.conflict(
                "auth.mode",
                "server.trusted_proxies",
                "in gateway mode the proxies that may name a user must be listed",
            );
        }
        let auth = Self {
            mode: if gateway { AuthMode::Gateway } else { AuthMode::Jwt },
            key: key(reader),
            audience: reader.text("auth.audience"),
            issuer: reader.text("auth.issuer"),
            leeway: reader.get("auth.leeway"),
        };
        if gateway && auth.key.is_some() {
            reader.warn("auth.mode is \"gateway\": the token key that is set, too, does not admit anybody");
        }
        auth
    }

    pub(super) fn identity(&self) -> Result<Identity<'_>, Error> {
        match (self.mode, &self.key) {
            (AuthMode::Gateway, _) => Ok(Identity::Gateway),
            (AuthMode::Jwt, Some(key)) => Ok(Identity::Jwt(key)),
            (AuthMode::Jwt, None) => Err(Error::Missing {
                key: SECRET.to_owned(),
                how: "make one with `openssl rand -hex 32` and set SECKILL_AUTH__JWT_SECRET to it, or \
                      SECKILL_AUTH__JWT_SECRET_FILE to a file that holds it (for tokens of others set auth.jwt_public_key)"
                    .to_owned(),
            }),
        }
    }
}

fn key(reader: &Reader<'_>) -> Option<JwtKey> {
    let secret: Option<Secret> = reader.get(SECRET);
    let pem = reader.text(PUBLIC_KEY);
    let algorithm: String = reader.get(ALGORITHM);
    if secret.is_some() && pem.is_some() {
        reader.conflict(
            SECRET,
            PUBLIC_KEY,
            "tokens are checked with one key; leave one of them out",
        );
    }
    if let Some(reason) = secret.as_ref().and_then(|secret| weak::reason(secret.reveal())) {
        reader.weak(SECRET, reason);
    }
    let (name, fits, key) = match (secret, pem) {
        (Some(secret), _) => (SECRET, "HS256", JwtKey::Secret(secret)),
        (None, Some(pem)) => {
            let algorithm = public_key::algorithm(&pem)?;
            (
                PUBLIC_KEY,
                algorithm.name(),
                JwtKey::Public(PublicKey { pem, algorithm }),
            )
        }
        (None, None) => return None,
    };
    if algorithm != "auto" && algorithm != fits {
        reader.conflict(
            ALGORITHM,
            name,
            "the key is of another algorithm; \"auto\" takes the key's own",
        );
    }
    Some(key)
}

/// What sales may ask of their buyers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// Zero bits of a proof of work.
    pub pow_bits: u8,
}

impl Challenge {
    pub(super) fn narrow(reader: &Reader<'_>) -> Self {
        Self {
            pow_bits: reader.get("challenge.pow_bits"),
        }
    }
}
