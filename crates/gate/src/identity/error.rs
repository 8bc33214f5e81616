//! Why tokens can't be checked with these settings.

pub(super) const SECRET_LENGTH_MIN: usize = 32;
/// Clocks of an issuer and a node with NTP differ by milliseconds; more than a minute hides a fault.
pub(super) const LEEWAY_S_MAX: u32 = 60;

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
