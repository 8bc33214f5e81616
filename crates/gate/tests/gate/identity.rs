//! Tokens that prove somebody, and all the others.

use crate::support::{SECRET, token, user};
use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use seckill_gate::{Expectations, IdentityError, PublicAlgorithm, Signer, Verifier, Verifiers};
use seckill_sale::{EpochMs, Refusal};
use sha2::{Sha256, Sha512};

const NOW: EpochMs = EpochMs(1_750_000_000_000);
const NOW_S: i64 = 1_750_000_000;

fn verifier() -> Verifier {
    Verifier::hs256(SECRET, &Expectations::default()).expect("a good secret")
}

/// A token with these very texts as header and claims, signed with `secret` by HMAC-SHA-256.
fn crafted(header: &str, claims: &str, secret: &[u8]) -> String {
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let mut keyed = Hmac::<Sha256>::new_from_slice(secret).expect("any length");
    keyed.update(message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(keyed.finalize().into_bytes()))
}

fn with_claims(claims: &str) -> String {
    crafted(r#"{"alg":"HS256","typ":"JWT"}"#, claims, SECRET)
}

fn with_header(header: &str) -> String {
    crafted(header, &format!(r#"{{"sub":"alice","exp":{}}}"#, NOW_S + 60), SECRET)
}

#[track_caller]
fn refused(token: &str) {
    assert_eq!(verifier().verify(token, NOW), Err(Refusal::Unauthenticated), "{token}");
}

#[test]
fn good_token_names_its_user_and_end() {
    let identity = verifier()
        .verify(&with_claims(r#"{"sub":"alice","exp":1750000060,"more":[1]}"#), NOW)
        .expect("good");
    assert_eq!((identity.user, identity.expires_at), (user("alice"), NOW.plus(60_000)));
    assert!(
        verifier()
            .verify(&with_header(r#"{"alg":"HS256","kid":"../../etc/passwd"}"#), NOW)
            .is_ok(),
        "kid selects nothing"
    );
}

#[test]
fn expiry_must_be_an_integer_that_lies_ahead() {
    for exp in [
        "1749999880",
        "1750000000",
        "0",
        "-1",
        "\"never\"",
        "\"1750000060\"",
        "1750000060.5",
        "1e12",
        "null",
        "true",
        "[]",
        "{}",
    ] {
        refused(&with_claims(&format!(r#"{{"sub":"alice","exp":{exp}}}"#)));
    }
    for exp in ["18446744073709551615", "99999999999999999999999"] {
        refused(&with_claims(&format!(r#"{{"sub":"alice","exp":{exp}}}"#)));
    }
    refused(&with_claims(r#"{"sub":"alice"}"#));
    refused(&with_claims(r#"{"sub":"alice","exp":1750000060,"exp":1750000060}"#));
    assert!(
        verifier()
            .verify(&with_claims(r#"{"sub":"alice","exp":9223372036854775807}"#), NOW)
            .is_ok()
    );
}

#[test]
fn subject_must_be_a_user_id() {
    for sub in [
        "\"\"",
        "\"a b\"",
        "\"\\u0000\"",
        "1",
        "null",
        "[\"alice\"]",
        &format!("\"{}\"", "x".repeat(65)),
    ] {
        refused(&with_claims(&format!(r#"{{"sub":{sub},"exp":1750000060}}"#)));
    }
    refused(&with_claims(r#"{"exp":1750000060}"#));
}

#[test]
fn not_before_is_respected() {
    let nbf = |nbf: &str| with_claims(&format!(r#"{{"sub":"alice","exp":1750000060,"nbf":{nbf}}}"#));
    assert!(verifier().verify(&nbf("1750000000"), NOW).is_ok());
    for late in ["1750000001", "\"1\"", "1.5"] {
        refused(&nbf(late));
    }
}

#[test]
fn leeway_is_at_most_a_minute() {
    let with = |leeway_s| {
        Verifier::hs256(
            SECRET,
            &Expectations {
                leeway_s,
                ..Expectations::default()
            },
        )
    };
    assert!(matches!(with(61), Err(IdentityError::LeewayTooLong)));
    let verifier = with(60).expect("allowed");
    let expired = |seconds: i64| with_claims(&format!(r#"{{"sub":"alice","exp":{}}}"#, NOW_S - seconds));
    assert!(verifier.verify(&expired(59), NOW).is_ok());
    for seconds in [60, 120] {
        assert!(verifier.verify(&expired(seconds), NOW).is_err());
    }
}

#[test]
fn header_selects_nothing() {
    let claims = URL_SAFE_NO_PAD.encode(format!(r#"{{"sub":"alice","exp":{}}}"#, NOW_S + 60));
    for alg in ["none", "None", "nOnE", "NONE", "", "hs256"] {
        let header = URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"{alg}"}}"#));
        refused(&format!("{header}.{claims}."));
        refused(&with_header(&format!(r#"{{"alg":"{alg}"}}"#)));
    }
    for header in [
        r#"{"alg":"HS512"}"#,
        r#"{"alg":"RS256"}"#,
        r#"{"typ":"JWT"}"#,
        r#"{"alg":"HS256","crit":["exp"]}"#,
        r#"{"alg":"HS256","crit":["b64"],"b64":true}"#,
        r#"{"alg":"HS256","crit":[]}"#,
        r#"{"alg":"HS256","b64":false}"#,
        r#"{"alg":"HS256","alg":"HS256"}"#,
    ] {
        refused(&with_header(header));
    }
}

#[test]
fn other_size_of_hmac_is_refused() {
    let claims = format!(r#"{{"sub":"alice","exp":{}}}"#, NOW_S + 60);
    for alg in ["HS256", "HS512"] {
        let message = format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"{alg}"}}"#)),
            URL_SAFE_NO_PAD.encode(&claims)
        );
        let mut keyed = Hmac::<Sha512>::new_from_slice(SECRET).expect("any length");
        keyed.update(message.as_bytes());
        refused(&format!(
            "{message}.{}",
            URL_SAFE_NO_PAD.encode(keyed.finalize().into_bytes())
        ));
    }
}

#[test]
fn signature_must_be_there_and_right() {
    let good = token("alice");
    let (message, signature) = good.rsplit_once('.').expect("three parts");
    refused(message);
    refused(&format!("{message}."));
    refused(&format!("{message}.{}", &signature[1..]));
    refused(&format!("{message}.{signature}="));
    refused(&format!("{good}.x"));
    refused(&crafted(
        r#"{"alg":"HS256"}"#,
        r#"{"sub":"alice","exp":1750000060}"#,
        b"another secret of thirty-two bytes or more",
    ));
    for junk in ["", ".", "..", "...", "a.b.c", "\u{e9}.b.c", &"x".repeat(100_000)] {
        refused(junk);
    }
    let at = message.find('.').expect("two parts") + 3;
    let mut altered = good.clone().into_bytes();
    altered[at] ^= 1;
    refused(&String::from_utf8(altered).expect("ASCII"));
}

#[test]
fn audience_and_issuer_are_checked_only_where_configured() {
    let claims = |more: &str| with_claims(&format!(r#"{{"sub":"alice","exp":1750000060{more}}}"#));
    for more in [
        "",
        r#","aud":"other""#,
        r#","aud":["x"],"iss":"other""#,
        r#","aud":7,"iss":7"#,
    ] {
        assert!(verifier().verify(&claims(more), NOW).is_ok(), "{more}");
    }
    let (audience, issuer) = (Some("shop".to_owned()), Some("gate.example".to_owned()));
    let expectations = Expectations {
        audience,
        issuer,
        ..Expectations::default()
    };
    let strict = Verifier::hs256(SECRET, &expectations).expect("a good secret");
    for more in [
        r#","aud":"shop","iss":"gate.example""#,
        r#","aud":["x","shop"],"iss":"gate.example""#,
    ] {
        assert!(strict.verify(&claims(more), NOW).is_ok(), "{more}");
    }
    for more in [
        "",
        r#","aud":"shop""#,
        r#","iss":"gate.example""#,
        r#","aud":"x","iss":"gate.example""#,
    ] {
        assert!(strict.verify(&claims(more), NOW).is_err(), "{more}");
    }
    for more in [
        r#","aud":"shop","iss":"x""#,
        r#","aud":[],"iss":"gate.example""#,
        r#","aud":7,"iss":"gate.example""#,
    ] {
        assert!(strict.verify(&claims(more), NOW).is_err(), "{more}");
    }
    let signer = Signer::hs256(SECRET, &expectations).expect("a good secret");
    let own = signer.sign(&user("alice"), NOW, NOW.plus(60_000)).expect("signs");
    assert!(strict.verify(&own, NOW).is_ok());
}

#[test]
fn short_secrets_are_refused() {
    for secret in [&b""[..], &[7; 31]] {
        assert!(matches!(
            Verifier::hs256(secret, &Expectations::default()),
            Err(IdentityError::SecretTooShort)
        ));
    }
    assert!(Verifier::hs256(&[7; 32], &Expectations::default()).is_ok());
}

fn pem(der: &[u8]) -> String {
    format!(
        "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
        STANDARD.encode(der)
    )
}

/// Pairs of each public-key algorithm, made on the spot: the key to sign with and the public key.
fn key_pairs() -> [(PublicAlgorithm, Algorithm, EncodingKey, String); 3] {
    let random = SystemRandom::new();
    let es = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("makes a key");
    let es_pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, es.as_ref()).expect("its own key");
    let ed = Ed25519KeyPair::generate_pkcs8(&random).expect("makes a key");
    let ed_pair = Ed25519KeyPair::from_pkcs8(ed.as_ref()).expect("its own key");
    let rsa = aws_lc_rs::rsa::KeyPair::generate(aws_lc_rs::rsa::KeySize::Rsa2048).expect("makes a key");
    // RsaKeyPair::from_der of the signer takes PKCS#1, which is what PKCS#8 wraps.
    let rsa_pkcs8: aws_lc_rs::encoding::Pkcs8V1Der<'_> = rsa.as_der().expect("can be written");
    let rsa_pem = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        STANDARD.encode(rsa_pkcs8.as_ref())
    );
    let public = |der: &dyn Fn() -> Vec<u8>| pem(&der());
    [
        (
            PublicAlgorithm::Es256,
            Algorithm::ES256,
            EncodingKey::from_ec_der(es.as_ref()),
            public(&|| es_pair.public_key().as_der().expect("can be written").as_ref().to_vec()),
        ),
        (
            PublicAlgorithm::EdDsa,
            Algorithm::EdDSA,
            EncodingKey::from_ed_der(ed.as_ref()),
            public(&|| ed_pair.public_key().as_der().expect("can be written").as_ref().to_vec()),
        ),
        (
            PublicAlgorithm::Rs256,
            Algorithm::RS256,
            EncodingKey::from_rsa_pem(rsa_pem.as_bytes()).expect("its own key"),
            public(&|| rsa.public_key().as_der().expect("can be written").as_ref().to_vec()),
        ),
    ]
}

#[test]
fn public_keys_of_every_algorithm_verify_their_own_tokens_only() {
    let claims = serde_json::json!({"sub": "alice", "exp": NOW_S + 60});
    let pairs = key_pairs();
    for (algorithm, header, signing_key, public_key) in &pairs {
        let verifier = Verifier::public_key(*algorithm, public_key, &Expectations::default()).expect("a public key");
        let good = jsonwebtoken::encode(&Header::new(*header), &claims, signing_key).expect("signs");
        assert_eq!(
            verifier.verify(&good, NOW).map(|identity| identity.user),
            Ok(user("alice")),
            "{algorithm:?}"
        );
        // Key confusion: the public key, known to all, as the secret of an HMAC.
        let confused = crafted(r#"{"alg":"HS256"}"#, &claims.to_string(), public_key.as_bytes());
        assert!(verifier.verify(&confused, NOW).is_err(), "{algorithm:?}");
        let relabelled = crafted(
            &format!(r#"{{"alg":"{header:?}"}}"#),
            &claims.to_string(),
            public_key.as_bytes(),
        );
        assert!(verifier.verify(&relabelled, NOW).is_err(), "{algorithm:?}");
        refused(&good);
        for (other, ..) in pairs.iter().filter(|(other, ..)| other != algorithm) {
            assert!(
                Verifier::public_key(*other, public_key, &Expectations::default()).is_err(),
                "{algorithm:?} as {other:?}"
            );
        }
    }
}

#[test]
fn whatever_is_no_public_key_is_refused() {
    for text in [
        "",
        "key",
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
    ] {
        for algorithm in [PublicAlgorithm::Rs256, PublicAlgorithm::Es256, PublicAlgorithm::EdDsa] {
            assert!(
                Verifier::public_key(algorithm, text, &Expectations::default()).is_err(),
                "{text:?}"
            );
        }
    }
    let private = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    let verifier = Verifier::public_key(PublicAlgorithm::Rs256, private, &Expectations::default());
    assert!(matches!(verifier, Err(IdentityError::PrivateKey)));
}

#[test]
fn change_of_key_empties_the_cache() {
    let verifiers = Verifiers::new(verifier(), 1024);
    let alice = token("alice");
    for _ in 0..2 {
        assert!(verifiers.verify(&alice, NOW).is_ok());
    }
    verifiers.replace(Verifier::hs256(&[9; 32], &Expectations::default()).expect("a good secret"));
    assert_eq!(verifiers.verify(&alice, NOW), Err(Refusal::Unauthenticated));
    verifiers.replace(verifier());
    assert!(verifiers.verify(&alice, NOW).is_ok(), "failures are not remembered");
}

#[test]
fn cached_token_expires_like_any_other() {
    let verifiers = Verifiers::new(verifier(), 1024);
    let short = with_claims(r#"{"sub":"alice","exp":1750000001}"#);
    assert!(verifiers.verify(&short, NOW).is_ok());
    assert!(verifiers.verify(&short, NOW.plus(999)).is_ok());
    assert!(verifiers.verify(&short, NOW.plus(1000)).is_err());
}
