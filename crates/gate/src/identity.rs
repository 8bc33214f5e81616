//! Who a request comes from, by a signed token. One algorithm and its keys, fixed by the settings; of a token's header only `kid` selects, and
//! only among these keys.
//! Not here: single sign-out. A token is good until its `exp`; keep it short, block the user, or change the key.

pub(crate) mod claims;
pub(crate) mod clients;
pub(crate) mod credentials;
pub(crate) mod hs256;
pub(crate) mod jwks;
pub(crate) mod more_claims;
pub(crate) mod object;
pub(crate) mod public_keys;
pub(crate) mod token_cache;
pub(crate) mod user_token;
pub(crate) mod verifiers;

use jsonwebtoken::Algorithm;
use jsonwebtoken::crypto::CryptoProvider;
use seckill_sale::{EpochMs, Refusal, UserId};

use crate::identity::claims::Claims;
use crate::identity::hs256::Hs256;
use crate::identity::more_claims::{MoreClaims, RequiredClaim};
use crate::identity::public_keys::{PublicKey, PublicKeys};
use crate::identity::user_token::Signer;

/// Longer tokens are refused without a look at them. Request heads are limited elsewhere; this bounds the hashing.
const TOKEN_LENGTH_MAX: usize = 8 * 1024;
const SECRET_LENGTH_MIN: usize = 32;
/// Clocks of an issuer and a node with NTP differ by milliseconds; more than a minute hides a fault.
const LEEWAY_S_MAX: u32 = 60;

/// A buyer, and until when his token proves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The buyer.
    pub user: UserId,
    /// First moment at which the token is not accepted any more, leeway included.
    pub expires_at: EpochMs,
    /// His level, where the settings name the claim that says it and the token has it.
    pub level: Option<u32>,
}

impl Identity {
    /// Whether the token still counts at `now`.
    #[must_use]
    pub fn is_live_at(&self, now: EpochMs) -> bool {
        now < self.expires_at
    }
}

/// What tokens must say besides `sub` and `exp`.
#[derive(Debug, Clone, Default)]
pub struct Expectations {
    /// The audience that `aud` must name; none: `aud` is not looked at.
    pub audience: Option<String>,
    /// The issuer that `iss` must name; none: `iss` is not looked at.
    pub issuer: Option<String>,
    /// Seconds after `exp` and before `nbf` in which a token counts, at most 60. 0 by default: issuer and node run NTP, a token lives for
    /// minutes or more, and a leeway only prolongs what the issuer said.
    pub leeway_s: u32,
    /// Claims that a token must have.
    pub required: Vec<RequiredClaim>,
    /// The claim that says the user's level.
    pub level_claim: Option<String>,
}

impl Expectations {
    /// Whether the claims must be read beyond those that every token has.
    const fn ask_more(&self) -> bool {
        !self.required.is_empty() || self.level_claim.is_some()
    }
}

/// Algorithm of tokens that are checked with a public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublicAlgorithm {
    /// RSA PKCS#1 v1.5 with SHA-256.
    Rs256,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

/// Why tokens cannot be checked with these settings.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The secret is too short.
    #[error("the token secret must have at least {SECRET_LENGTH_MIN} bytes")]
    SecretTooShort,
    /// The leeway is too long.
    #[error("the leeway of tokens must not exceed {LEEWAY_S_MAX} s")]
    LeewayTooLong,
    /// A private key where a public one belongs.
    #[error(
        "this is a private key; tokens are checked with the public one, and the private one should stay where it is"
    )]
    PrivateKey,
    /// The key cannot be read, or is of another kind than the algorithm.
    #[error("the public key can't be read as a key of this algorithm")]
    Key(#[source] jsonwebtoken::errors::Error),
    /// An RSA key below 2048 bits.
    #[error("the RSA key must have at least 2048 bits")]
    KeyTooShort,
    /// No key, or more than may count at the same time.
    #[error("tokens are checked with 1 to 8 keys")]
    KeyCount,
    /// The file of keys is refused as a whole.
    #[error("the key set can't be used: {0}")]
    KeySet(&'static str),
    /// Signing failed.
    #[error("the token can't be signed")]
    Sign(#[source] jsonwebtoken::errors::Error),
    /// Verifying does not work in this build.
    #[error("self-test of token verification failed: {0}")]
    SelfTest(&'static str),
}

/// How signatures are checked.
#[derive(Debug)]
enum Scheme {
    Secret {
        first: Hs256,
        /// Counts, too, while the secret is changed.
        previous: Option<Hs256>,
    },
    Public(PublicKeys),
}

/// Checks tokens with one algorithm and its keys.
#[derive(Debug)]
pub struct Verifier {
    scheme: Scheme,
    expected: Expectations,
}

impl Verifier {
    /// A verifier of HS256 tokens, tested by a token of its own.
    ///
    /// # Errors
    /// [`Error::SecretTooShort`], [`Error::LeewayTooLong`], [`Error::SelfTest`].
    pub fn hs256(secret: &[u8], expectations: &Expectations) -> Result<Self, Error> {
        Self::hs256_beside(secret, None, expectations)
    }

    /// A verifier of HS256 tokens with this secret or the one before, tested by a token of each.
    ///
    /// # Errors
    /// As [`Self::hs256`].
    pub fn hs256_beside(secret: &[u8], previous: Option<&[u8]>, expectations: &Expectations) -> Result<Self, Error> {
        let secrets = || std::iter::once(secret).chain(previous);
        if secrets().any(|secret| secret.len() < SECRET_LENGTH_MIN) {
            return Err(Error::SecretTooShort);
        }
        let scheme = Scheme::Secret {
            first: Hs256::new(secret),
            previous: previous.map(Hs256::new),
        };
        let verifier = Self::new(scheme, expectations)?;
        for secret in secrets() {
            verifier.self_test_with(&Signer::hs256(secret, expectations)?)?;
        }
        Ok(verifier)
    }

    /// A verifier of tokens that are signed with the private key of `pem`.
    ///
    /// # Errors
    /// [`Error::PrivateKey`], [`Error::Key`], [`Error::KeyTooShort`], [`Error::LeewayTooLong`], [`Error::SelfTest`].
    pub fn public_key(algorithm: PublicAlgorithm, pem: &str, expectations: &Expectations) -> Result<Self, Error> {
        Self::public_keys(algorithm, &[pem], expectations)
    }

    /// A verifier of tokens that are signed with the private key of one of these.
    ///
    /// # Errors
    /// As [`Self::public_key`], and [`Error::KeyCount`].
    pub fn public_keys(algorithm: PublicAlgorithm, pems: &[&str], expectations: &Expectations) -> Result<Self, Error> {
        let keys = pems.iter().map(|pem| PublicKey::of_pem(algorithm, pem));
        Self::with_public(algorithm, keys.collect::<Result<_, _>>()?, expectations)
    }

    /// A verifier of tokens that are signed with the private key of one of a key set (JWKS).
    ///
    /// # Errors
    /// [`Error::KeySet`], [`Error::Key`], [`Error::LeewayTooLong`], [`Error::SelfTest`].
    pub fn key_set(algorithm: PublicAlgorithm, text: &str, expectations: &Expectations) -> Result<Self, Error> {
        Self::with_public(algorithm, jwks::keys(algorithm, text)?, expectations)
    }

    fn with_public(
        algorithm: PublicAlgorithm,
        keys: Vec<PublicKey>,
        expectations: &Expectations,
    ) -> Result<Self, Error> {
        let keys = PublicKeys::new(algorithm, keys)?;
        let verifier = Self::new(Scheme::Public(keys), expectations)?;
        verifier.self_test()?;
        Ok(verifier)
    }

    fn new(scheme: Scheme, expectations: &Expectations) -> Result<Self, Error> {
        if LEEWAY_S_MAX < expectations.leeway_s {
            return Err(Error::LeewayTooLong);
        }
        Ok(Self {
            scheme,
            expected: expectations.clone(),
        })
    }

    /// Keys that count.
    #[must_use]
    pub const fn keys(&self) -> usize {
        match &self.scheme {
            Scheme::Secret { previous: None, .. } => 1,
            Scheme::Secret { .. } => 2,
            Scheme::Public(keys) => keys.count(),
        }
    }

    fn claims(&self, token: &str) -> Option<Claims> {
        match &self.scheme {
            Scheme::Secret { first, previous } => first
                .claims(token)
                .or_else(|| previous.as_ref().and_then(|previous| previous.claims(token))),
            Scheme::Public(keys) => keys.claims(token),
        }
    }

    /// Whose token this is.
    ///
    /// # Errors
    /// [`Refusal::Unauthenticated`] for every fault: which one is nobody's business but the issuer's.
    pub fn verify(&self, token: &str, now: EpochMs) -> Result<Identity, Refusal> {
        if TOKEN_LENGTH_MAX < token.len() {
            return Err(Refusal::Unauthenticated);
        }
        let identity = self
            .claims(token)
            .and_then(|claims| claims.identity(&self.expected, now))
            .ok_or(Refusal::Unauthenticated)?;
        if !self.expected.ask_more() {
            return Ok(identity);
        }
        match MoreClaims::of(token, &self.expected) {
            Some(MoreClaims { level }) => Ok(Identity { level, ..identity }),
            None => Err(Refusal::Unauthenticated),
        }
    }

    /// A build without a provider of cryptography compiles, and panics at the first token: better to know at the start.
    fn self_test(&self) -> Result<(), Error> {
        if CryptoProvider::try_get_default().is_none() {
            return Err(Error::SelfTest("no provider of cryptography is built in"));
        }
        let algorithm = match &self.scheme {
            Scheme::Secret { .. } => Algorithm::HS256,
            Scheme::Public(keys) => keys.algorithm(),
        };
        let forged = match algorithm {
            Algorithm::HS256 => "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIiwiZXhwIjo5fQ.AAAA",
            Algorithm::RS256 => "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIiwiZXhwIjo5fQ.AAAA",
            Algorithm::ES256 => "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIiwiZXhwIjo5fQ.AAAA",
            _ => "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhIiwiZXhwIjo5fQ.AAAA",
        };
        match self.verify(forged, EpochMs(0)) {
            Ok(_) => Err(Error::SelfTest("a forged token was accepted")),
            Err(_) => Ok(()),
        }
    }

    fn self_test_with(&self, signer: &Signer) -> Result<(), Error> {
        self.self_test()?;
        let user = UserId::new("self-test").map_err(|_| Error::SelfTest("no user id"))?;
        let token = signer.sign(&user, EpochMs(0), EpochMs(1000))?;
        if self.verify(&token, EpochMs(0)).map(|identity| identity.user) != Ok(user) {
            return Err(Error::SelfTest("a good token was refused"));
        }
        if self
            .verify(&token, EpochMs(1000).plus(i64::from(self.expected.leeway_s) * 1000))
            .is_ok()
        {
            return Err(Error::SelfTest("an expired token was accepted"));
        }
        Ok(())
    }
}
