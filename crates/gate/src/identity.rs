//! Who a request comes from, by a signed token. One algorithm and one key, fixed by the settings; a token's header selects nothing.
//! Not here: single sign-out. A token is good until its `exp`; keep it short, block the user, or change the key.

use jsonwebtoken::crypto::CryptoProvider;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use seckill_sale::{EpochMs, Refusal, UserId};

use crate::claims::Claims;
use crate::hs256::Hs256;
use crate::object::Object;
use crate::user_token::Signer;

/// Longer tokens are refused without a look at them. Request heads are limited elsewhere; this bounds the hashing.
const TOKEN_LENGTH_MAX: usize = 8 * 1024;
const SECRET_LENGTH_MIN: usize = 32;
/// Clocks of an issuer and a node with NTP differ by milliseconds; more than a minute hides a fault.
const LEEWAY_S_MAX: u32 = 60;
/// An RSA key in DER form is longer than its modulus: this refuses keys below 2048 bits.
const RSA_KEY_LENGTH_MIN: usize = 256;

/// A buyer, and until when his token proves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The buyer.
    pub user: UserId,
    /// First moment at which the token is not accepted any more, leeway included.
    pub expires_at: EpochMs,
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
    Secret(Hs256),
    Public {
        key: DecodingKey,
        /// The algorithm, and nothing of the claims.
        validation: Validation,
    },
}

/// Checks tokens with one algorithm and one key.
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
        if secret.len() < SECRET_LENGTH_MIN {
            return Err(Error::SecretTooShort);
        }
        let verifier = Self::new(Scheme::Secret(Hs256::new(secret)), expectations)?;
        let signer = Signer::hs256(secret, expectations)?;
        verifier.self_test_with(&signer)?;
        Ok(verifier)
    }

    /// A verifier of tokens that are signed with the private key of `pem`.
    ///
    /// # Errors
    /// [`Error::PrivateKey`], [`Error::Key`], [`Error::KeyTooShort`], [`Error::LeewayTooLong`], [`Error::SelfTest`].
    pub fn public_key(algorithm: PublicAlgorithm, pem: &str, expectations: &Expectations) -> Result<Self, Error> {
        if pem.contains("PRIVATE KEY") {
            return Err(Error::PrivateKey);
        }
        let pem = pem.as_bytes();
        let (key, algorithm) = match algorithm {
            PublicAlgorithm::Rs256 => (DecodingKey::from_rsa_pem(pem), Algorithm::RS256),
            PublicAlgorithm::Es256 => (DecodingKey::from_ec_pem(pem), Algorithm::ES256),
            PublicAlgorithm::EdDsa => (DecodingKey::from_ed_pem(pem), Algorithm::EdDSA),
        };
        let key = key.map_err(Error::Key)?;
        let length = key.try_get_as_bytes().map_err(Error::Key)?.len();
        if algorithm == Algorithm::RS256 && length < RSA_KEY_LENGTH_MIN {
            return Err(Error::KeyTooShort);
        }
        let mut validation = Validation::new(algorithm);
        // The claims are checked in one place for all algorithms; time is passed in, where the library would read the system's clock.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.validate_aud = false;
        validation.set_required_spec_claims::<&str>(&[]);
        let verifier = Self::new(Scheme::Public { key, validation }, expectations)?;
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

    /// Whose token this is.
    ///
    /// # Errors
    /// [`Refusal::Unauthenticated`] for every fault: which one is nobody's business but the issuer's.
    pub fn verify(&self, token: &str, now: EpochMs) -> Result<Identity, Refusal> {
        if TOKEN_LENGTH_MAX < token.len() {
            return Err(Refusal::Unauthenticated);
        }
        let claims = match &self.scheme {
            Scheme::Secret(hs256) => hs256.claims(token),
            Scheme::Public { key, validation } => jsonwebtoken::decode::<Object<Claims>>(token, key, validation)
                .ok()
                // `crit` names extensions that must be understood; none is.
                .and_then(|decoded| decoded.header.crit.is_none().then_some(decoded.claims.0)),
        };
        claims
            .and_then(|claims| claims.identity(&self.expected, now))
            .ok_or(Refusal::Unauthenticated)
    }

    /// A build without a provider of cryptography compiles, and panics at the first token: better to know at the start.
    fn self_test(&self) -> Result<(), Error> {
        if CryptoProvider::try_get_default().is_none() {
            return Err(Error::SelfTest("no provider of cryptography is built in"));
        }
        let algorithm = match &self.scheme {
            Scheme::Secret(_) => Algorithm::HS256,
            Scheme::Public { validation, .. } => validation.algorithms[0],
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
