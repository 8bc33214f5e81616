//! Checks signatures and claims of tokens, and itself at the start.

use jsonwebtoken::Algorithm;
use jsonwebtoken::crypto::CryptoProvider;
use seckill_sale::{EpochMs, Refusal, UserId};

use crate::identity::claims::Claims;
use crate::identity::error::{Error, LEEWAY_S_MAX, SECRET_LENGTH_MIN};
use crate::identity::hs256::Hs256;
use crate::identity::more_claims::MoreClaims;
use crate::identity::public_keys::{PublicKey, PublicKeys};
use crate::identity::user_token::Signer;
use crate::identity::{Expectations, Identity, PublicAlgorithm, jwks};

/// Longer tokens are refused without a look at them. Request heads are limited elsewhere; this bounds the hashing.
const TOKEN_LENGTH_MAX: usize = 8 * 1024;

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

    /// Whether a token can say the user's level: a claim is named for it.
    pub(crate) const fn tells_levels(&self) -> bool {
        self.expected.level_claim.is_some()
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
