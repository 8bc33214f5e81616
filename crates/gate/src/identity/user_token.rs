//! Makes user tokens with the configured secret, for the command line, the demo and the self-test. Nothing on a request path signs one.

use std::collections::BTreeMap;

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use seckill_sale::{EpochMs, UserId};
use serde::Serialize;
use serde_json::Value;

use crate::identity::more_claims::RequiredClaim;
use crate::identity::{Error, Expectations};

#[derive(Serialize)]
struct Claims<'a> {
    sub: &'a str,
    iat: i64,
    exp: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    aud: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iss: Option<&'a str>,
    #[serde(flatten)]
    required: BTreeMap<&'a str, Value>,
}

/// Claims that are in every token.
const OWN: [&str; 5] = ["sub", "iat", "exp", "aud", "iss"];

/// Signs HS256 tokens that meet the same expectations as a verifier's.
pub struct Signer {
    key: EncodingKey,
    audience: Option<String>,
    issuer: Option<String>,
    required: Vec<RequiredClaim>,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer").finish_non_exhaustive()
    }
}

impl Signer {
    /// A signer with this secret.
    ///
    /// # Errors
    /// [`Error::Sign`] where the secret is no key, i.e. empty.
    pub fn hs256(secret: &[u8], expectations: &Expectations) -> Result<Self, Error> {
        let key = EncodingKey::from_secret(secret).map_err(Error::Sign)?;
        Ok(Self {
            key,
            audience: expectations.audience.clone(),
            issuer: expectations.issuer.clone(),
            required: expectations.required.clone(),
        })
    }

    /// A token of `user`. Tokens count in seconds; fractions of one are dropped.
    ///
    /// # Errors
    /// [`Error::Sign`].
    pub fn sign(&self, user: &UserId, issued_at: EpochMs, expires_at: EpochMs) -> Result<String, Error> {
        let claims = Claims {
            sub: user.as_str(),
            iat: issued_at.0.div_euclid(1000),
            exp: expires_at.0.div_euclid(1000),
            aud: self.audience.as_deref(),
            iss: self.issuer.as_deref(),
            required: self.required().collect(),
        };
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &self.key).map_err(Error::Sign)
    }

    /// Required claims say what they must say; those that may say anything say that they are there.
    fn required(&self) -> impl Iterator<Item = (&str, Value)> {
        let foreign = self.required.iter().filter(|claim| !OWN.contains(&claim.name()));
        foreign.map(|claim| (claim.name(), claim.value().map_or(Value::Bool(true), Value::from)))
    }
}
