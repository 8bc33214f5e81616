//! Keys of tokens and of clients: what goes together, and what is refused without a word of it.

use seckill_settings::{Identity, JwtKey, PublicAlgorithm, Secret, Settings};
use tempfile::TempDir;

use crate::{OTHER_SECRET, SECRET, environment, file, refused, with_file};

const PEM: &str = "-----BEGIN PUBLIC KEY-----\\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\\n-----END PUBLIC KEY-----";

#[test]
fn key_before_counts_beside_the_present_one_of_its_kind() {
    let both = [
        ("SECKILL_AUTH__JWT_SECRET", SECRET),
        ("SECKILL_AUTH__JWT_SECRET_PREVIOUS", OTHER_SECRET),
    ];
    let auth = Settings::load(&environment(&both)).unwrap().auth;
    assert_eq!(auth.previous, Some(JwtKey::Secret(Secret::new(OTHER_SECRET))));
    for (bad, part) in [
        (vec![("SECKILL_AUTH__JWT_SECRET_PREVIOUS", SECRET)], "which is not set"),
        (
            vec![
                ("SECKILL_AUTH__JWT_SECRET", SECRET),
                ("SECKILL_AUTH__JWT_SECRET_PREVIOUS", SECRET),
            ],
            "it is the present key",
        ),
        (
            vec![
                ("SECKILL_AUTH__JWT_SECRET", SECRET),
                ("SECKILL_AUTH__JWT_SECRET_PREVIOUS", "short"),
            ],
            "shorter than 32",
        ),
        (
            vec![
                ("SECKILL_AUTH__JWT_SECRET", SECRET),
                ("SECKILL_AUTH__JWT_PUBLIC_KEY_PREVIOUS", PEM),
            ],
            "which is not set",
        ),
        (
            vec![
                ("SECKILL_AUTH__JWT_PUBLIC_KEY", PEM),
                ("SECKILL_AUTH__JWT_PUBLIC_KEY_PREVIOUS", PEM),
            ],
            "it is the present key",
        ),
    ] {
        let error = refused(&bad);
        assert!(error.contains(part) && !error.contains(SECRET), "{error}");
    }
}

#[test]
fn key_set_needs_its_algorithm_named_and_no_other_key() {
    let file = ("SECKILL_AUTH__JWKS_FILE", "/run/keys.json");
    let settings = Settings::load(&environment(&[file, ("SECKILL_AUTH__JWT_ALGORITHM", "ES256")])).unwrap();
    let Ok(Identity::Jwt(JwtKey::File(keys))) = settings.require_auth() else {
        panic!("{:?}", settings.auth);
    };
    assert_eq!(
        (keys.path.to_str(), keys.algorithm),
        (Some("/run/keys.json"), PublicAlgorithm::Es256)
    );
    for algorithm in ["auto", "HS256"] {
        let error = refused(&[file, ("SECKILL_AUTH__JWT_ALGORITHM", algorithm)]);
        assert!(error.contains("RS256, ES256 or EdDSA"), "{error}");
    }
    let error = refused(&[
        file,
        ("SECKILL_AUTH__JWT_ALGORITHM", "ES256"),
        ("SECKILL_AUTH__JWT_SECRET", SECRET),
    ]);
    assert!(
        error.contains("auth.jwt_secret") && error.contains("auth.jwks_file"),
        "{error}"
    );
}

#[test]
fn required_claims_have_names() {
    let load = |claims: &str| Settings::load(&environment(&[("SECKILL_AUTH__REQUIRED_CLAIMS", claims)]));
    let claims = load("scope=sale, email_verified").unwrap().auth.required_claims;
    assert_eq!(claims, ["scope=sale", "email_verified"]);
    let many = ["x"; 17].join(",");
    for bad in ["=x", &many] {
        let error = load(bad).unwrap_err().to_string();
        assert!(error.contains("auth.required_claims"), "{error}");
    }
}

#[test]
fn clients_have_names_and_secrets_of_their_own_that_are_never_shown() {
    let keys = |text: &str| [("SECKILL_CLIENTS__KEYS", text.to_owned())];
    let two = format!("shop-1:{SECRET},shop-2:{OTHER_SECRET}");
    let load = |text: &str| {
        let [(name, text)] = keys(text);
        Settings::load(&environment(&[(name, &text)]))
    };
    let clients = load(&two).unwrap().clients;
    let names: Vec<&str> = clients.iter().map(|client| client.name.as_str()).collect();
    assert_eq!(names, ["shop-1", "shop-2"]);
    assert_eq!(clients[1].secret.reveal(), OTHER_SECRET);
    assert!(!format!("{clients:?}").contains(SECRET));
    for bad in [
        SECRET.to_owned(),
        format!(":{SECRET}"),
        format!("a b:{SECRET}"),
        "shop-1:short".to_owned(),
        format!("shop-1:{SECRET},shop-1:{OTHER_SECRET}"),
        format!("shop-1:{SECRET},shop-2:{SECRET}"),
    ] {
        let error = load(&bad).unwrap_err().to_string();
        assert!(error.contains("clients.keys") && !error.contains(SECRET), "{error}");
    }
}

#[test]
fn clients_are_read_from_a_list_or_from_a_file_of_lines() {
    let folder = TempDir::new().unwrap();
    let lines = file(&folder, "clients", &format!("shop-1:{SECRET}\nshop-2:{OTHER_SECRET}\n"));
    let count = |path: &std::path::Path| Settings::load(&with_file(path)).unwrap().clients.len();
    let text = format!("[clients]\nkeys_file = {:?}\n", lines.to_str().unwrap());
    assert_eq!(count(&file(&folder, "by-file.toml", &text)), 2);
    let text = format!("[clients]\nkeys = [\"shop-1:{SECRET}\"]\n");
    assert_eq!(count(&file(&folder, "by-list.toml", &text)), 1);
}
