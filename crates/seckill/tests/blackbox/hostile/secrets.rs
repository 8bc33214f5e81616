//! B-12, B-14 and B-15: keys that are taken for others, tokens for somebody else, and secrets that anybody guesses.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use seckill_testkit::{Server, call};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::house::Mode;
use crate::program;

/// Far enough ahead for every test.
const EXPIRES_AT_S: i64 = 4_102_444_800;

fn buys(server: &Server, sale: u64, token: &str) -> (u16, i64) {
    let bearer = [format!("Authorization: Bearer {token}")];
    let answer = call(server.public, "POST", &format!("/api/seckill/{sale}"), &bearer, None).expect("answers");
    (answer.status, answer.code())
}

/// Tokens that are signed with what everybody knows of a public key.
#[test]
fn a_public_key_is_no_secret_of_tokens() {
    let der = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("makes a key");
    let pair = Ed25519KeyPair::from_pkcs8(der.as_ref()).expect("its own key");
    let raw = pair.public_key().as_ref();
    // What precedes the key in a SubjectPublicKeyInfo of Ed25519.
    let info = [&[0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0], raw].concat();
    let pem = format!(
        "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
        STANDARD.encode(&info)
    );
    let settings = [
        ("SECKILL_AUTH__JWT_SECRET", ""),
        ("SECKILL_AUTH__JWT_PUBLIC_KEY", pem.as_str()),
    ];
    let server = Server::start_with(&program(), &settings);
    let sale = server.sale(5, &json!({}));
    let claims = json!({"sub": "a", "exp": EXPIRES_AT_S});
    let token =
        |algorithm, key: &EncodingKey| jsonwebtoken::encode(&Header::new(algorithm), &claims, key).expect("signs");
    let texts = [
        pem.as_bytes(),
        pem.trim().as_bytes(),
        &info,
        raw,
        STANDARD.encode(raw).as_bytes(),
    ]
    .map(<[u8]>::to_vec);
    for text in texts {
        for algorithm in [Algorithm::HS256, Algorithm::HS384, Algorithm::HS512] {
            let confused = token(algorithm, &EncodingKey::from_secret(&text).expect("a key"));
            assert_eq!(buys(&server, sale, &confused), (401, 40_100), "{algorithm:?} {text:?}");
        }
    }
    let fine = token(Algorithm::EdDSA, &EncodingKey::from_ed_der(der.as_ref()));
    // A head may name another key or bring one along: neither is looked at.
    let jwk = json!({"kty": "OKP", "crv": "Ed25519", "x": URL_SAFE_NO_PAD.encode(raw)});
    for head in [
        json!({"alg": "EdDSA", "jwk": jwk}),
        json!({"alg": "none"}),
        json!({"alg": "HS256", "kid": "../../dev/null"}),
    ] {
        let other = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("makes a key");
        let other = Ed25519KeyPair::from_pkcs8(other.as_ref()).expect("its own key");
        let said = [head.to_string(), claims.to_string()]
            .map(|part| URL_SAFE_NO_PAD.encode(part))
            .join(".");
        let signature = URL_SAFE_NO_PAD.encode(other.sign(said.as_bytes()));
        assert_eq!(
            buys(&server, sale, &format!("{said}.{signature}")),
            (401, 40_100),
            "{head}"
        );
    }
    assert_eq!(server.settled(sale)["accepted"], 0);
    assert_eq!(buys(&server, sale, &fine), (202, 0));
}

fn tokens_for_others_are_nobody_s(mode: Mode) {
    let settings = [
        ("SECKILL_AUTH__AUDIENCE", "shop"),
        ("SECKILL_AUTH__ISSUER", "house"),
        ("SECKILL_AUTH__REQUIRED_CLAIMS", "use=access"),
    ];
    let served = mode.serve(&settings);
    let server = &served.server;
    let sale = server.sale(5, &json!({}));
    let fine = json!({"sub": "a", "exp": EXPIRES_AT_S, "aud": "shop", "iss": "house", "use": "access"});
    let token = |claims: &Value| server.signed(r#"{"alg":"HS256"}"#, &claims.to_string());
    let changed = |name: &str, value: Value| {
        let mut claims = fine.clone();
        claims[name] = value;
        claims
    };
    for claims in [
        json!({"sub": "a", "exp": EXPIRES_AT_S}),
        changed("aud", Value::Null),
        changed("aud", json!("other")),
        changed("aud", json!("shop.evil")),
        changed("aud", json!(["other", "others"])),
        changed("iss", json!("other")),
        changed("iss", json!("house.evil")),
        changed("use", json!("refresh")),
        changed("use", Value::Null),
        changed("exp", json!(1_000_000_000)),
        changed("nbf", json!(EXPIRES_AT_S)),
    ] {
        assert_eq!(buys(server, sale, &token(&claims)), (401, 40_100), "{claims}");
    }
    assert_eq!(server.settled(sale)["accepted"], 0);
    assert_eq!(
        buys(server, sale, &token(&changed("aud", json!(["other", "shop"])))),
        (202, 0)
    );
}

#[test]
fn a_token_for_others_or_another_use_is_nobody_s_in_one_process() {
    tokens_for_others_are_nobody_s(Mode::OneProcess);
}

#[test]
fn a_token_for_others_or_another_use_is_nobody_s_on_redis() {
    tokens_for_others_are_nobody_s(Mode::Redis);
}

#[test]
fn a_server_does_not_start_with_a_secret_that_anybody_guesses() {
    let folder = TempDir::new().expect("a folder");
    for (setting, key) in [
        ("SECKILL_AUTH__JWT_SECRET", "auth.jwt_secret"),
        ("SECKILL_ADMIN__TOKEN", "admin.token"),
    ] {
        for weak in [
            "tiny",
            "0123456789abcdef0123456789abcde",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "changemechangemechangemechangemechangeme",
            "please-change-me-this-is-the-default-secret-key",
            "your-256-bit-secret-your-256-bit-secret",
        ] {
            let mut serve = program().command(
                folder.path(),
                &["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"],
            );
            let output = serve.env(setting, weak).output().expect("starts");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{weak}: {said}");
            assert!(said.contains(key) && !said.contains(weak), "{weak}: {said}");
        }
    }
    assert!(
        folder.path().read_dir().expect("a folder").next().is_none(),
        "nothing was made"
    );
}
