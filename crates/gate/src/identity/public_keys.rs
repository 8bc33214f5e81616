//! Public keys that tokens are checked with: one algorithm for all of them, and the names that issuers give them.

use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};

use crate::identity::claims::Claims;
use crate::identity::object::Object;
use crate::identity::{Error, PublicAlgorithm};

/// Keys that may count at the same time. A forged token without a name is tried with each of them.
pub(crate) const KEYS_MAX: usize = 8;
/// An RSA key in DER form is longer than its modulus: this refuses keys below 2048 bits.
const RSA_KEY_LENGTH_MIN: usize = 256;

/// A key, and what a token's `kid` calls it, where its issuer said so.
#[derive(Debug)]
pub(crate) struct PublicKey {
    pub(crate) name: Option<Box<str>>,
    pub(crate) key: DecodingKey,
}

impl PublicKey {
    /// The key of a PEM text, which has no name.
    pub(crate) fn of_pem(algorithm: PublicAlgorithm, pem: &str) -> Result<Self, Error> {
        if pem.contains("PRIVATE KEY") {
            return Err(Error::PrivateKey);
        }
        let pem = pem.as_bytes();
        let key = match algorithm {
            PublicAlgorithm::Rs256 => DecodingKey::from_rsa_pem(pem),
            PublicAlgorithm::Es256 => DecodingKey::from_ec_pem(pem),
            PublicAlgorithm::EdDsa => DecodingKey::from_ed_pem(pem),
        };
        let key = key.map_err(Error::Key)?;
        let length = key.try_get_as_bytes().map_err(Error::Key)?.len();
        if algorithm == PublicAlgorithm::Rs256 && length < RSA_KEY_LENGTH_MIN {
            return Err(Error::KeyTooShort);
        }
        Ok(Self { name: None, key })
    }
}

/// All keys in force.
#[derive(Debug)]
pub(crate) struct PublicKeys {
    keys: Vec<PublicKey>,
    /// Whether a token's `kid` can choose among them.
    named: bool,
    /// The algorithm, and nothing of the claims.
    validation: Validation,
}

impl PublicKeys {
    pub(crate) fn new(algorithm: PublicAlgorithm, keys: Vec<PublicKey>) -> Result<Self, Error> {
        if keys.is_empty() || KEYS_MAX < keys.len() {
            return Err(Error::KeyCount);
        }
        let mut validation = Validation::new(match algorithm {
            PublicAlgorithm::Rs256 => Algorithm::RS256,
            PublicAlgorithm::Es256 => Algorithm::ES256,
            PublicAlgorithm::EdDsa => Algorithm::EdDSA,
        });
        // The claims are checked in one place for all algorithms; time is passed in, where the library would read the system's clock.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.validate_aud = false;
        validation.set_required_spec_claims::<&str>(&[]);
        Ok(Self {
            named: keys.iter().any(|key| key.name.is_some()),
            keys,
            validation,
        })
    }

    pub(crate) fn algorithm(&self) -> Algorithm {
        self.validation.algorithms[0]
    }

    pub(crate) const fn count(&self) -> usize {
        self.keys.len()
    }

    /// The claims of a token that one of the keys signed. Its `kid` chooses among the keys that have a name; one that names none of them is
    /// nobody's token, unless a key without a name signed it.
    pub(crate) fn claims(&self, token: &str) -> Option<Claims> {
        let kid = if self.named {
            decode_header(token).ok()?.kid
        } else {
            None
        };
        let may_be = |key: &&PublicKey| match (&key.name, &kid) {
            (Some(name), Some(kid)) => **name == **kid,
            _ => true,
        };
        self.keys.iter().filter(may_be).find_map(|key| {
            let decoded = decode::<Object<Claims>>(token, &key.key, &self.validation).ok()?;
            // `crit` names extensions that must be understood; none is.
            decoded.header.crit.is_none().then_some(decoded.claims.0)
        })
    }
}
