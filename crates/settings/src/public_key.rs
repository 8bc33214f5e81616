//! Which algorithm a public key is for, told from the key's own object identifiers, so that the operator need not say it
//! and can't say it wrong. The signature check itself is done elsewhere; nothing here verifies a token.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const ED25519: &[u8] = &[0x06, 0x03, 0x2b, 0x65, 0x70];

const BEGIN: &str = "-----BEGIN PUBLIC KEY-----";
const BEGIN_RSA: &str = "-----BEGIN RSA PUBLIC KEY-----";

pub(crate) const EXPECTED: &str =
    "a public key in PEM form (RSA, P-256 or Ed25519, beginning with -----BEGIN PUBLIC KEY-----)";

/// Algorithm of tokens that are checked with a public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublicAlgorithm {
    /// RSA PKCS#1 v1.5 with SHA-256.
    Rs256,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

impl PublicAlgorithm {
    /// The name that stands in a token's `alg`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }
}

/// Brings a key to lines: environment files often carry `\n` as two characters.
pub(crate) fn with_lines(pem: &str) -> String {
    let text = if pem.contains('\n') {
        pem.to_owned()
    } else {
        pem.replace("\\n", "\n")
    };
    text.trim().to_owned()
}

/// The algorithm of a key in PEM form; `None` where it is not a public key of a known kind.
pub(crate) fn algorithm(pem: &str) -> Option<PublicAlgorithm> {
    if pem.starts_with(BEGIN_RSA) {
        return Some(PublicAlgorithm::Rs256);
    }
    let body = pem.strip_prefix(BEGIN)?.split("-----END").next()?;
    let body: String = body.chars().filter(|c| !c.is_whitespace()).collect();
    let der = STANDARD.decode(body).ok()?;
    let holds = |id: &[u8]| der.windows(id.len()).any(|window| window == id);
    if holds(RSA) {
        Some(PublicAlgorithm::Rs256)
    } else if holds(EC) {
        holds(P256).then_some(PublicAlgorithm::Es256)
    } else {
        holds(ED25519).then_some(PublicAlgorithm::EdDsa)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ED: &str = "-----BEGIN PUBLIC KEY-----\\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\\n-----END PUBLIC KEY-----\\n";

    #[test]
    fn algorithm_is_told_from_the_key() {
        assert_eq!(algorithm(&with_lines(ED)), Some(PublicAlgorithm::EdDsa));
        let p256 = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----";
        assert_eq!(algorithm(p256), Some(PublicAlgorithm::Es256));
        let rsa = "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----";
        assert_eq!(algorithm(rsa), Some(PublicAlgorithm::Rs256));
    }

    #[test]
    fn whatever_is_no_public_key_is_refused() {
        let p384 = "-----BEGIN PUBLIC KEY-----\nMHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE\n-----END PUBLIC KEY-----";
        for pem in [
            "",
            "/run/key.pem",
            "-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----",
            p384,
            BEGIN,
        ] {
            assert_eq!(algorithm(pem), None, "{pem}");
        }
    }
}
