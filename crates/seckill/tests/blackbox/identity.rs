//! Who buyers are: keys that are changed, key sets that are exchanged under a running server, and requests that a shop's backend signs.

use std::fs;
use std::io::Write as _;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use seckill_testkit::{Answer, Postgres, Server, call, text, token};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::program;
use crate::shop::{API, SCHEDULER, Shop};

const OLD: &str = "the-old-one-0f9b2c47d1e88a635b7c90e1f2a3d4c5";
const NEW: &str = "the-new-one-77aa0f9b2c47d1e88a635b7c90e1f2a3";
pub(crate) const SHOP_SECRET: &str = "the-shops-own-5b7c90e1f2a3d4c50f9b2c47d1e88a63";

/// A purchase with this token.
fn buy_with(server: &Server, activity: u64, token: &str) -> Answer {
    let headers = [format!("Authorization: Bearer {token}")];
    call(
        server.public,
        "POST",
        &format!("/api/seckill/{activity}"),
        &headers,
        None,
    )
    .expect("answers")
}

fn buys(server: &Server, activity: u64, token: &str) -> u16 {
    buy_with(server, activity, token).status
}

#[test]
fn a_secret_is_changed_without_a_moment_at_which_a_buyer_is_refused() {
    let mut server = Server::start_with(&program(), &[("SECKILL_AUTH__JWT_SECRET", OLD)]);
    let activity = server.sale(20, &json!({}));
    let [old, new] = [OLD, NEW].map(|secret| move |user: &str| token(user, secret));
    assert_eq!(
        [buys(&server, activity, &old("a")), buys(&server, activity, &new("b"))],
        [202, 401]
    );
    let both = [
        ("SECKILL_AUTH__JWT_SECRET", NEW),
        ("SECKILL_AUTH__JWT_SECRET_PREVIOUS", OLD),
    ];
    restart(&mut server, &both);
    assert_eq!(
        [buys(&server, activity, &old("c")), buys(&server, activity, &new("d"))],
        [202, 202]
    );
    let signed = program()
        .command(server.folder.path(), &["token", "--user", "e"])
        .envs(both)
        .output();
    let signed = String::from_utf8(signed.expect("it starts").stdout).expect("UTF-8");
    restart(&mut server, &[("SECKILL_AUTH__JWT_SECRET", NEW)]);
    assert_eq!(
        [buys(&server, activity, &old("f")), buys(&server, activity, &new("g"))],
        [401, 202]
    );
    assert_eq!(buys(&server, activity, signed.trim()), 202, "signed with the new one");
}

/// Ends the process and starts it with other settings on the same folder and ports.
fn restart(server: &mut Server, settings: &[(&str, &str)]) {
    assert!(server.terminate().success());
    server.set(settings);
    server.start_again();
}

/// A key of an issuer.
struct Issuer {
    signing: EncodingKey,
    kid: &'static str,
    jwk: Value,
}

impl Issuer {
    fn new(kid: &'static str) -> Self {
        let der = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("makes a key");
        let pair = Ed25519KeyPair::from_pkcs8(der.as_ref()).expect("its own key");
        let x = URL_SAFE_NO_PAD.encode(pair.public_key().as_ref());
        Self {
            signing: EncodingKey::from_ed_der(der.as_ref()),
            kid,
            jwk: json!({"kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": kid, "x": x}),
        }
    }

    fn token(&self, user: &str) -> String {
        let header = Header {
            kid: Some(self.kid.to_owned()),
            ..Header::new(Algorithm::EdDSA)
        };
        let claims = json!({"sub": user, "exp": 4_102_444_800_i64, "level": 3});
        jsonwebtoken::encode(&header, &claims, &self.signing).expect("signs")
    }
}

#[test]
fn a_key_set_is_taken_over_when_its_file_changes_and_a_broken_one_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("keys.json");
    let (first, second) = (Issuer::new("first"), Issuer::new("second"));
    let write = |text: &str| {
        let beside = folder.path().join("keys.new");
        fs::write(&beside, text).expect("written");
        fs::rename(&beside, &path).expect("renamed");
    };
    let set = |keys: &[&Value]| json!({"keys": keys}).to_string();
    write(&set(&[&first.jwk]));
    let settings = [
        ("SECKILL_AUTH__JWT_SECRET", ""),
        ("SECKILL_AUTH__JWKS_FILE", path.to_str().expect("UTF-8")),
        ("SECKILL_AUTH__JWT_ALGORITHM", "EdDSA"),
    ];
    let server = Server::start_with(&program(), &settings);
    let activity = server.sale(20, &json!({}));
    let status = |token: String| buys(&server, activity, &token);
    assert_eq!([status(first.token("a")), status(second.token("b"))], [202, 401]);
    write(&set(&[&first.jwk, &second.jwk]));
    server.until(|| status(second.token("b")), |status| *status == 202);
    assert_eq!(status(first.token("c")), 202);
    let up = || {
        text(server.admin, "/metrics")
            .expect("answers")
            .contains("\nseckill_key_file_up 1")
    };
    let check = || server.as_admin("GET", "/admin/api/check", None).data()["checks"].to_string();
    assert!(up() && check().contains("2 of "), "{}", check());
    write("{\"keys\": [{\"kty\": \"oct\", \"use\": \"sig\", \"k\": \"AAAA\"}]}");
    server.until(up, |up| !up);
    assert!(check().contains("symmetric key"), "{}", check());
    assert_eq!([status(first.token("d")), status(second.token("e"))], [202, 202]);
    // The same length and moment, as after a change of who may read it.
    let mended = set(&[&second.jwk]);
    write(&mended.replace("sig", "enc"));
    server.until(check, |check| check.contains("none of its keys"));
    let file = fs::OpenOptions::new().write(true).open(&path).expect("opens");
    let moment = file.metadata().and_then(|known| known.modified()).expect("a moment");
    (&file).write_all(mended.as_bytes()).expect("written");
    file.set_modified(moment).expect("set back");
    server.until(|| status(first.token("a")), |status| *status == 401);
    assert_eq!(status(second.token("f")), 202);
    assert!(up());
}

#[test]
fn a_pipe_in_the_place_of_a_key_set_keeps_nobody_waiting() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("keys.json");
    let issuer = Issuer::new("first");
    fs::write(&path, json!({"keys": [issuer.jwk]}).to_string()).expect("written");
    let settings = [
        ("SECKILL_AUTH__JWT_SECRET", ""),
        ("SECKILL_AUTH__JWKS_FILE", path.to_str().expect("UTF-8")),
        ("SECKILL_AUTH__JWT_ALGORITHM", "EdDSA"),
    ];
    let server = Server::start_with(&program(), &settings);
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    fs::rename(&pipe, &path).expect("renamed");
    let check = || server.as_admin("GET", "/admin/api/check", None).data()["checks"].to_string();
    server.until(check, |check| check.contains("it is no file"));
    fs::remove_file(&path).expect("removed");
    fs::write(&path, json!({"keys": [issuer.jwk]}).to_string()).expect("written");
    server.until(check, |check| !check.contains("it is no file"));
}

/// How a request is signed.
pub(crate) struct Signing<'a> {
    pub(crate) at_ms: &'a str,
    pub(crate) nonce: &'a str,
    pub(crate) secret: &'a str,
}

impl Signing<'_> {
    /// The header lines of a request that is signed for this user.
    pub(crate) fn lines(&self, method: &str, path: &str, user: &str, body: &str) -> Vec<String> {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let digest = hex(&Sha256::digest(body));
        let Self { at_ms, nonce, secret } = self;
        let text = format!("{method}\n{path}\n{at_ms}\n{nonce}\n{user}\n{digest}");
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length");
        mac.update(text.as_bytes());
        let signature = hex(&mac.finalize().into_bytes());
        vec![
            "X-Client-Id: shop-1".to_owned(),
            format!("X-User-Id: {user}"),
            format!("X-Timestamp: {at_ms}"),
            format!("X-Nonce: {nonce}"),
            format!("X-Signature: {signature}"),
        ]
    }
}

/// A purchase that the shop signs, at a node whose clock says `at_ms`.
fn signed(at_ms: &str, activity: u64, user: &str, nonce: &str) -> Vec<String> {
    let signing = Signing {
        at_ms,
        nonce,
        secret: SHOP_SECRET,
    };
    signing.lines("POST", &format!("/api/seckill/{activity}"), user, "")
}

#[test]
fn a_signed_request_counts_once_on_all_nodes_and_after_a_restart() {
    let database = Postgres::fresh();
    let keys = format!("shop-1:{SHOP_SECRET}");
    let mut shop = Shop::new(database.url())
        .setting("SECKILL_CLIENTS__KEYS", &keys)
        .with(&[API, API, SCHEDULER]);
    let activity = shop.nodes[0].sale(20, &json!({}));
    shop.nodes[1].knows(activity);
    let path = format!("/api/seckill/{activity}");
    let send = |node: &Server, headers: &[String]| {
        let answer = call(node.public, "POST", &path, headers, None).expect("answers");
        (answer.status, answer.code())
    };
    let time = call(shop.nodes[0].public, "GET", "/api/time", &[], None).expect("answers");
    let now = time.header("Server-Time").to_owned();
    let alice = signed(&now, activity, "alice", "nonce-of-alice-01");
    assert_eq!(send(&shop.nodes[0], &alice), (202, 0));
    assert_eq!(
        [send(&shop.nodes[0], &alice), send(&shop.nodes[1], &alice)],
        [(401, 40100); 2]
    );
    assert_eq!(
        send(&shop.nodes[1], &signed(&now, activity, "bob", "nonce-of-bob-0001")),
        (202, 0)
    );
    let mut forged = signed(&now, activity, "carol", "nonce-of-carol-01");
    forged[1] = "X-User-Id: mallory".to_owned();
    assert_eq!(send(&shop.nodes[0], &forged), (401, 40100));
    assert!(shop.nodes[0].terminate().success());
    shop.nodes[0].start_again();
    assert_eq!(send(&shop.nodes[0], &alice), (401, 40100));
    let result = shop.nodes[0].as_user("alice", "GET", &format!("/api/seckill/result/{activity}"), None);
    assert_eq!(result.expect("answers").status, 200);
}

#[test]
fn a_nonce_is_remembered_by_a_server_alone_over_its_restart() {
    let keys = format!("shop-1:{SHOP_SECRET}");
    let mut server = Server::start_with(&program(), &[("SECKILL_CLIENTS__KEYS", &keys)]);
    let activity = server.sale(20, &json!({}));
    let time = call(server.public, "GET", "/api/time", &[], None).expect("answers");
    let alice = signed(time.header("Server-Time"), activity, "alice", "nonce-of-alice-01");
    let path = format!("/api/seckill/{activity}");
    let send = |server: &Server| {
        call(server.public, "POST", &path, &alice, None)
            .expect("answers")
            .status
    };
    assert_eq!([send(&server), send(&server)], [202, 401]);
    assert!(server.terminate().success());
    server.start_again();
    assert_eq!(send(&server), 401);
}
