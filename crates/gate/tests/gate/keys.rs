//! Keys that are changed while tokens of both count, key sets of issuers, and claims that tokens must have.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use seckill_gate::{Expectations, IdentityError, PublicAlgorithm, RequiredClaim, Signer, Verifier, Verifiers};
use seckill_sale::{EpochMs, Refusal};
use serde_json::{Value, json};

use crate::support::user;

const NOW: EpochMs = EpochMs(1_750_000_000_000);
const FIRST: &[u8] = b"the first secret of thirty-two bytes or more";
const SECOND: &[u8] = b"the second secret of thirty-two bytes or more";

fn nothing() -> Expectations {
    Expectations::default()
}

fn hs256(claims: &Value, secret: &[u8]) -> String {
    let key = EncodingKey::from_secret(secret).expect("a key");
    jsonwebtoken::encode(&Header::new(Algorithm::HS256), claims, &key).expect("signs")
}

fn claims() -> Value {
    json!({"sub": "alice", "exp": 1_750_000_060})
}

#[test]
fn tokens_of_both_secrets_count_while_the_secret_is_changed() {
    let verifier = Verifier::hs256_beside(SECOND, Some(FIRST), &nothing()).expect("good secrets");
    assert_eq!(verifier.keys(), 2);
    for secret in [FIRST, SECOND] {
        let identity = verifier.verify(&hs256(&claims(), secret), NOW).expect("counts");
        assert_eq!(identity.user, user("alice"));
    }
    assert!(verifier.verify(&hs256(&claims(), &[9; 40]), NOW).is_err());
    let short = Verifier::hs256_beside(SECOND, Some(&[1; 31]), &nothing());
    assert!(matches!(short, Err(IdentityError::SecretTooShort)));
}

#[test]
fn secret_that_is_withdrawn_takes_its_cached_tokens_along() {
    let verifier = |previous| Verifier::hs256_beside(SECOND, previous, &nothing()).expect("good secrets");
    let verifiers = Verifiers::new(verifier(Some(FIRST)), 64);
    let old = hs256(&claims(), FIRST);
    for _ in 0..2 {
        assert!(verifiers.verify(&old, NOW).is_ok());
    }
    verifiers.replace(verifier(None));
    assert_eq!(verifiers.verify(&old, NOW), Err(Refusal::Unauthenticated));
    assert!(verifiers.verify(hs256(&claims(), SECOND), NOW).is_ok());
}

/// A key pair: how it signs, and what of it is published.
struct Pair {
    algorithm: PublicAlgorithm,
    header: Algorithm,
    signing: EncodingKey,
    jwk: Value,
}

impl Pair {
    fn ed25519(kid: &str) -> Self {
        let der = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("makes a key");
        let pair = Ed25519KeyPair::from_pkcs8(der.as_ref()).expect("its own key");
        let x = URL_SAFE_NO_PAD.encode(pair.public_key().as_ref());
        Self {
            algorithm: PublicAlgorithm::EdDsa,
            header: Algorithm::EdDSA,
            signing: EncodingKey::from_ed_der(der.as_ref()),
            jwk: json!({"kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": kid, "x": x}),
        }
    }

    fn p256(kid: &str) -> Self {
        let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        let der = der.expect("makes a key");
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der.as_ref()).expect("its own key");
        let point = pair.public_key().as_ref();
        let [x, y] = [&point[1..33], &point[33..]].map(|half| URL_SAFE_NO_PAD.encode(half));
        Self {
            algorithm: PublicAlgorithm::Es256,
            header: Algorithm::ES256,
            signing: EncodingKey::from_ec_der(der.as_ref()),
            jwk: json!({"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": kid, "x": x, "y": y}),
        }
    }

    fn rsa(kid: &str) -> Self {
        use aws_lc_rs::encoding::AsDer as _;
        let pair = aws_lc_rs::rsa::KeyPair::generate(aws_lc_rs::rsa::KeySize::Rsa2048).expect("makes a key");
        let pkcs8: aws_lc_rs::encoding::Pkcs8V1Der<'_> = pair.as_der().expect("can be written");
        let pem = format!(
            "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
            base64::engine::general_purpose::STANDARD.encode(pkcs8.as_ref())
        );
        // PKCS#1: a sequence of the modulus, 257 bytes with the zero in front, and the exponent.
        let public = pair.public_key().as_ref();
        let [n, e] = [&public[9..265], &public[267..]].map(|number| URL_SAFE_NO_PAD.encode(number));
        Self {
            algorithm: PublicAlgorithm::Rs256,
            header: Algorithm::RS256,
            signing: EncodingKey::from_rsa_pem(pem.as_bytes()).expect("its own key"),
            jwk: json!({"kty": "RSA", "use": "sig", "kid": kid, "n": n, "e": e}),
        }
    }

    fn token(&self, kid: Option<&str>) -> String {
        let mut header = Header::new(self.header);
        header.kid = kid.map(str::to_owned);
        jsonwebtoken::encode(&header, &claims(), &self.signing).expect("signs")
    }
}

fn set(keys: &[&Value]) -> String {
    json!({"keys": keys}).to_string()
}

fn verifier(algorithm: PublicAlgorithm, keys: &[&Value]) -> Result<Verifier, IdentityError> {
    Verifier::key_set(algorithm, &set(keys), &nothing())
}

#[test]
fn keys_of_a_set_verify_their_tokens_in_every_algorithm() {
    for make in [Pair::ed25519, Pair::p256, Pair::rsa] {
        let (old, new, foreign) = (make("old"), make("new"), make("new"));
        let verifier = verifier(old.algorithm, &[&old.jwk, &new.jwk]).expect("a key set");
        assert_eq!(verifier.keys(), 2);
        let counts = |token: String| verifier.verify(&token, NOW).is_ok();
        assert!(counts(old.token(Some("old"))) && counts(new.token(Some("new"))));
        assert!(counts(old.token(None)) && counts(new.token(None)), "all are tried");
        for kid in ["old", "older", "", "../../etc/passwd", "https://evil.example/key"] {
            assert!(!counts(new.token(Some(kid))), "{:?} {kid:?}", old.algorithm);
        }
        assert!(!counts(foreign.token(Some("new"))) && !counts(foreign.token(None)));
    }
}

#[test]
fn key_without_a_name_is_tried_whatever_a_token_says() {
    let mut pair = Pair::ed25519("x");
    pair.jwk.as_object_mut().expect("an object").remove("kid");
    let verifier = verifier(pair.algorithm, &[&pair.jwk]).expect("a key set");
    for kid in [None, Some("whatever")] {
        assert!(verifier.verify(&pair.token(kid), NOW).is_ok(), "{kid:?}");
    }
}

#[test]
fn other_keys_of_an_issuer_are_passed_over() {
    let (ed, ec) = (Pair::ed25519("ed"), Pair::p256("ec"));
    let mut encryption = Pair::ed25519("enc");
    encryption.jwk["use"] = json!("enc");
    let mut unsaid = Pair::ed25519("unsaid");
    unsaid.jwk.as_object_mut().expect("an object").remove("use");
    let mut other = Pair::p256("p384");
    other.jwk["alg"] = json!("ES384");
    let all = [&ed.jwk, &ec.jwk, &encryption.jwk, &unsaid.jwk, &other.jwk];
    let verifier = verifier(PublicAlgorithm::EdDsa, &all).expect("a key set");
    assert_eq!(verifier.keys(), 1);
    assert!(verifier.verify(&ed.token(Some("ed")), NOW).is_ok());
    for pair in [&ec, &encryption, &unsaid] {
        assert!(verifier.verify(&pair.token(None), NOW).is_err());
    }
}

#[test]
fn file_that_is_no_set_of_public_keys_is_refused_as_a_whole() {
    let good = Pair::ed25519("good").jwk;
    let with = |member: &str, value: Value| {
        let mut key = Pair::ed25519("other").jwk;
        key[member] = value;
        key
    };
    let octets = json!({"kty": "oct", "use": "sig", "k": "c2VjcmV0"});
    for bad in [
        octets,
        with("d", json!("c2VjcmV0")),
        with("k", json!("c2VjcmV0")),
        with("x", json!("AAAA")),
        with("x", json!(null)),
        with("kid", json!("good")),
        with("kty", json!(1)),
        json!(["OKP"]),
    ] {
        let refused = verifier(PublicAlgorithm::EdDsa, &[&good, &bad]);
        assert!(matches!(refused, Err(IdentityError::KeySet(_))), "{bad}");
    }
    assert!(verifier(PublicAlgorithm::EdDsa, &[&good, &with("strange", json!(1))]).is_ok());
    let nine: Vec<Value> = (0..9).map(|n| Pair::ed25519(&n.to_string()).jwk).collect();
    let some = |count: usize| verifier(PublicAlgorithm::EdDsa, &nine.iter().take(count).collect::<Vec<_>>());
    assert!(some(8).is_ok() && some(9).is_err() && some(0).is_err());
    assert!(verifier(PublicAlgorithm::Es256, &[&good]).is_err(), "none fits");
    for text in ["", "{}", "[]", "{\"keys\":{}}", "x", &" ".repeat(70_000)] {
        assert!(Verifier::key_set(PublicAlgorithm::EdDsa, text, &nothing()).is_err());
    }
    let mut short = Pair::rsa("short").jwk;
    short["n"] = json!(URL_SAFE_NO_PAD.encode([0xff; 128]));
    assert!(verifier(PublicAlgorithm::Rs256, &[&short]).is_err(), "1024 bits");
}

fn expecting(required: &[&str], level_claim: Option<&str>) -> Verifier {
    let expectations = Expectations {
        required: required
            .iter()
            .filter_map(|claim| RequiredClaim::parse(claim))
            .collect(),
        level_claim: level_claim.map(str::to_owned),
        ..nothing()
    };
    Verifier::hs256(FIRST, &expectations).expect("its own tokens are good")
}

/// A token with more claims.
fn with(more: &str) -> String {
    let claims: Value = serde_json::from_str(&format!(r#"{{"sub":"alice","exp":1750000060{more}}}"#)).expect("JSON");
    hs256(&claims, FIRST)
}

#[test]
fn token_without_a_required_claim_is_refused() {
    let accepts = |required: &[&str], more: &str| expecting(required, None).verify(&with(more), NOW).is_ok();
    for more in [
        r#","role":"buyer""#,
        r#","role":["x","buyer"]"#,
        r#","role":"buyer","more":{"role":1}"#,
    ] {
        assert!(accepts(&["role=buyer"], more) && accepts(&["role"], more), "{more}");
    }
    for more in [
        "",
        r#","role":"seller""#,
        r#","role":null"#,
        r#","role":{"buyer":1}"#,
        r#","role":[["buyer"]]"#,
        r#","more":{"role":"buyer"}"#,
    ] {
        assert!(!accepts(&["role=buyer"], more), "{more}");
    }
    assert!(!accepts(&["role"], r#","role":null"#));
    assert!(accepts(&["ok=true", "n=7"], r#","ok":true,"n":7"#));
    assert!(!accepts(&["ok=true", "n=7"], r#","ok":true"#), "all are required");
}

#[test]
fn signer_makes_tokens_with_the_required_claims() {
    let expectations = Expectations {
        required: ["role=buyer", "seen", "sub"]
            .iter()
            .filter_map(|claim| RequiredClaim::parse(claim))
            .collect(),
        ..nothing()
    };
    let signer = Signer::hs256(FIRST, &expectations).expect("a good secret");
    let token = signer.sign(&user("alice"), NOW, NOW.plus(60_000)).expect("signs");
    let verifier = Verifier::hs256(FIRST, &expectations).expect("a good secret");
    assert_eq!(
        verifier.verify(&token, NOW).map(|identity| identity.user),
        Ok(user("alice"))
    );
}

#[test]
fn level_is_kept_with_the_identity_also_in_the_cache() {
    for (more, level) in [
        (r#","level":3"#, Some(3)),
        (r#","level":0"#, Some(0)),
        ("", None),
        (r#","level":"3""#, None),
        (r#","level":3.5"#, None),
        (r#","level":-1"#, None),
        (r#","level":4294967296"#, None),
    ] {
        let verifiers = Verifiers::new(expecting(&[], Some("level")), 64);
        for _ in 0..2 {
            let identity = verifiers.verify(with(more), NOW).expect("a good token");
            assert_eq!(identity.level, level, "{more}");
        }
    }
    let identity = expecting(&[], None)
        .verify(&with(r#","level":3"#), NOW)
        .expect("a good token");
    assert_eq!(identity.level, None, "nobody asked");
}

#[test]
fn claim_that_stands_there_twice_is_refused_where_it_is_asked_for() {
    use hmac::{Hmac, KeyInit as _, Mac as _};
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let text = format!(
        "{}.{}",
        part(r#"{"alg":"HS256"}"#),
        part(r#"{"sub":"alice","exp":1750000060,"level":1,"level":9}"#)
    );
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(FIRST).expect("any length");
    mac.update(text.as_bytes());
    let token = format!("{text}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()));
    assert!(expecting(&[], None).verify(&token, NOW).is_ok());
    assert!(expecting(&[], Some("level")).verify(&token, NOW).is_err());
}
