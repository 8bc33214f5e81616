//! Digests by which the nodes of a store tell whether they have the same database and the same secrets. They stand where every node reads
//! them, so each is keyed by what it is of, cut short, and leads back to nothing.

use seckill_gate::derived_secret;
use seckill_sale::InstallationId;
use seckill_settings::{Identity, JwtKey, Settings};
use seckill_stock::members::Fingerprints;

use crate::exit::Failure;

/// Bytes of a digest: enough that two never agree by chance.
const BYTES: usize = 8;

/// Of a node with these settings, this database and this secret of purchase tokens.
pub(super) fn of(
    settings: &Settings,
    database: Option<InstallationId>,
    purchase_tokens: &[u8; 32],
) -> Result<Fingerprints, Failure> {
    Ok(Fingerprints {
        database: database.map(of_database).unwrap_or_default(),
        user_keys: of_identity(settings.require_auth()?),
        purchase_tokens: digest(purchase_tokens, "fingerprint of purchase tokens"),
    })
}

/// Of a database.
pub(super) fn of_database(id: InstallationId) -> String {
    digest(&id.0, "fingerprint of a database")
}

fn of_identity(identity: Identity<'_>) -> String {
    let (kind, key) = match identity {
        Identity::Gateway => ("gateway".to_owned(), String::new()),
        Identity::Jwt(JwtKey::Secret(secret)) => ("secret".to_owned(), secret.reveal().to_owned()),
        // Its keys come and go while the nodes run, at each a moment sooner or later.
        Identity::Jwt(JwtKey::File(file)) => (format!("file of {:?}", file.algorithm), String::new()),
        // How the text of a key is broken into lines says nothing.
        Identity::Jwt(JwtKey::Public(key)) => (format!("{:?}", key.algorithm), key.pem.split_whitespace().collect()),
    };
    digest(key.as_bytes(), &format!("fingerprint of user keys: {kind}"))
}

/// A short digest of something for one purpose.
pub(super) fn digest(secret: &[u8], purpose: &str) -> String {
    let derived = derived_secret(secret, purpose);
    derived[..BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use seckill_settings::{PublicAlgorithm, PublicKey, Secret};

    use super::*;

    fn of_secret(text: &str) -> String {
        of_identity(Identity::Jwt(&JwtKey::Secret(Secret::new(text))))
    }

    fn of_public(pem: &str, algorithm: PublicAlgorithm) -> String {
        let pem = pem.to_owned();
        of_identity(Identity::Jwt(&JwtKey::Public(PublicKey { pem, algorithm })))
    }

    #[test]
    fn the_same_key_has_the_same_fingerprint_and_another_key_or_kind_another_one() {
        let all = [
            of_identity(Identity::Gateway),
            of_secret("one of thirty-two bytes and more"),
            of_secret("two of thirty-two bytes and more"),
            of_public("one of thirty-two bytes and more", PublicAlgorithm::Rs256),
            of_public("one of thirty-two bytes and more", PublicAlgorithm::Es256),
        ];
        for (place, one) in all.iter().enumerate() {
            assert_eq!(one.len(), 2 * BYTES);
            assert_eq!(all.iter().position(|other| other == one), Some(place));
        }
        assert_eq!(all[1], of_secret("one of thirty-two bytes and more"));
        let broken = of_public("one of\r\nthirty-two bytes\n and more\n", PublicAlgorithm::Rs256);
        assert_eq!(all[3], broken);
    }

    #[test]
    fn a_fingerprint_does_not_show_what_it_is_of() {
        let id = InstallationId([7; 16]);
        assert!(!id.to_string().contains(&of_database(id)));
        assert_ne!(of_database(id), of_database(InstallationId([8; 16])));
    }
}
