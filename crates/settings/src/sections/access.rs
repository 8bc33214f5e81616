//! Who a buyer is and how often he may come.

use std::time::Duration;

use super::Server;
use super::keys::{self, JwtKey, SECRET};
use crate::error::Error;
use crate::reader::Reader;

/// Claims that a token may be asked for. Each is looked for once in a token.
const CLAIMS_MAX: usize = 16;

/// Where the buyer's identity comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthMode {
    /// A signed token.
    Jwt,
    /// `X-User-Id`, from trusted proxies only.
    Gateway,
}

/// Whom a request comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Auth {
    /// Where the identity comes from.
    pub mode: AuthMode,
    /// The key of tokens, where one is set; [`super::Settings::require_auth`] insists on it.
    pub key: Option<JwtKey>,
    /// The key before, while it is changed.
    pub previous: Option<JwtKey>,
    /// Which devices count.
    pub devices: DeviceRule,
    /// Claims that a token must have, each `name` or `name=value`.
    pub required_claims: Vec<String>,
    /// The claim that says a user's level.
    pub level_claim: Option<String>,
    /// The `aud` that a token must name.
    pub audience: Option<String>,
    /// The `iss` that a token must name.
    pub issuer: Option<String>,
    /// How long a token is accepted after its `exp`.
    pub leeway: Duration,
}

/// Which devices count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceRule {
    /// Whatever a client names.
    Named,
    /// Only what this house has signed.
    Signed,
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
        let key = keys::key(reader);
        let auth = Self {
            mode: if gateway { AuthMode::Gateway } else { AuthMode::Jwt },
            previous: keys::previous(reader, key.as_ref()),
            key,
            devices: match reader.get::<String>("auth.devices").as_str() {
                "signed" => DeviceRule::Signed,
                _ => DeviceRule::Named,
            },
            required_claims: required_claims(reader),
            level_claim: reader.text("auth.level_claim"),
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

fn required_claims(reader: &Reader<'_>) -> Vec<String> {
    const NAME: &str = "auth.required_claims";
    let claims: Vec<String> = reader.get(NAME);
    let is_fine = |claim: &String| !claim.split('=').next().unwrap_or_default().trim().is_empty();
    if CLAIMS_MAX < claims.len() || !claims.iter().all(is_fine) {
        reader.refuse(Error::Invalid {
            key: NAME.to_owned(),
            origin: reader.origin(NAME),
            expected: "a list of at most 16 claims, each \"name\" or \"name=value\"".to_owned(),
            found: format!("{claims:?}"),
        });
    }
    claims
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
