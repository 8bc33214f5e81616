//! Signatures of clients.

use base64::Engine as _;
use http::HeaderValue;
use http::header::HeaderName;

use super::head::{BASE64, NAME_HEADER, NONCE_HEADER, SIGNATURE_HEADER, TAG_BYTES, TIMESTAMP_HEADER, tag};
use super::*;

const SECRET: &[u8] = b"a secret of the shop, of thirty-two bytes or more";
const NOW: EpochMs = EpochMs(1_750_000_000_000);
const NONCE: &str = "0123456789abcdef";

/// What a client sends.
#[derive(Clone)]
struct Sent {
    method: &'static str,
    target: &'static str,
    body: &'static [u8],
    headers: Vec<(HeaderName, String)>,
}

fn signature(text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET).expect("any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// A purchase of alice, signed as the documents say.
fn purchase(timestamp: &str, nonce: &str) -> Sent {
    let body = b"{\"quantity\":1}";
    let digest = hex(&Sha256::digest(body));
    let text = format!("POST\n/api/seckill/7?a=b\n{timestamp}\n{nonce}\nalice\n{digest}");
    Sent {
        method: "POST",
        target: "/api/seckill/7?a=b",
        body,
        headers: vec![
            (NAME_HEADER, "shop-1".to_owned()),
            (crate::USER_HEADER, "alice".to_owned()),
            (TIMESTAMP_HEADER, timestamp.to_owned()),
            (NONCE_HEADER, nonce.to_owned()),
            (SIGNATURE_HEADER, hex(&signature(&text))),
        ],
    }
}

fn good() -> Sent {
    purchase("1750000000", NONCE)
}

fn clients() -> Clients {
    Clients::new([("shop-0", &[1; 32][..]), ("shop-1", SECRET)])
}

fn headers(sent: &Sent) -> HeaderMap {
    let pair =
        |(name, value): &(HeaderName, String)| (name.clone(), HeaderValue::from_str(value).expect("a header value"));
    sent.headers.iter().fold(HeaderMap::new(), |mut all, sent| {
        let (name, value) = pair(sent);
        all.append(name, value);
        all
    })
}

fn verify(sent: &Sent) -> Option<Vouched> {
    let headers = headers(sent);
    let request = SignedRequest {
        method: sent.method,
        target: sent.target,
        headers: &headers,
        body: sent.body,
    };
    clients().verify(request, NOW)
}

fn with(change: impl FnOnce(&mut Sent)) -> Sent {
    let mut sent = good();
    change(&mut sent);
    sent
}

#[test]
fn signed_request_names_its_user_and_how_long_its_nonce_counts() {
    let vouched = verify(&good()).expect("signed");
    assert_eq!(vouched.user.as_str(), "alice");
    assert_eq!(vouched.until(), NOW.plus(35_000));
    let milliseconds = verify(&purchase("1750000000123", NONCE)).expect("signed");
    assert_eq!(milliseconds.until(), NOW.plus(35_123));
}

#[test]
fn signature_may_be_hexadecimal_or_base64() {
    let tag = tag(&good().headers[4].1).expect("hexadecimal");
    for text in [
        hex(&tag).to_uppercase(),
        BASE64.encode(tag),
        BASE64.encode(tag).trim_end_matches('=').to_owned(),
    ] {
        assert!(verify(&with(|sent| sent.headers[4].1 = text)).is_some());
    }
}

#[test]
fn whatever_was_changed_after_the_signing_is_refused() {
    assert_eq!(verify(&with(|sent| sent.method = "PUT")), None);
    assert_eq!(verify(&with(|sent| sent.target = "/api/seckill/8?a=b")), None);
    assert_eq!(verify(&with(|sent| sent.target = "/api/seckill/7")), None);
    assert_eq!(verify(&with(|sent| sent.body = b"{\"quantity\":2}")), None);
    for (at, other) in [
        (0, "shop-0"),
        (0, "shop-2"),
        (1, "bob"),
        (2, "1750000001"),
        (3, "0123456789abcdeF"),
        (4, "00"),
    ] {
        assert_eq!(
            verify(&with(|sent| sent.headers[at].1 = other.to_owned())),
            None,
            "{other}"
        );
    }
}

#[test]
fn each_header_stands_there_once() {
    for at in 0..5 {
        assert_eq!(
            verify(&with(|sent| drop(sent.headers.remove(at)))),
            None,
            "missing {at}"
        );
        let twice = with(|sent| sent.headers.push(sent.headers[at].clone()));
        assert_eq!(verify(&twice), None, "doubled {at}");
    }
}

#[test]
fn what_no_client_can_have_signed_is_seen_by_its_head() {
    let may = |sent: &Sent| clients().may_have_signed(&headers(sent), NOW);
    assert!(may(&good()));
    let forged = hex(&[7; TAG_BYTES]);
    assert!(
        may(&with(|sent| sent.headers[4].1 = forged)),
        "its secret is asked later"
    );
    for (at, other) in [(0, "shop-2"), (1, "a b"), (2, "1749999969"), (3, "short"), (4, "00")] {
        assert!(!may(&with(|sent| sent.headers[at].1 = other.to_owned())), "{other}");
        assert!(!may(&with(|sent| drop(sent.headers.remove(at)))), "missing {at}");
        assert!(
            !may(&with(|sent| sent.headers.push(sent.headers[at].clone()))),
            "doubled {at}"
        );
    }
}

#[test]
fn timestamp_is_at_most_half_a_minute_off() {
    for fine in ["1749999970", "1750000030", "1749999970000", "1750000030000"] {
        assert!(verify(&purchase(fine, NONCE)).is_some(), "{fine}");
    }
    for bad in [
        "1749999969",
        "1750000031",
        "1749999969999",
        "1750000030001",
        "",
        "-1",
        "+1750000000",
        "1e9",
        "99999999999999999999",
    ] {
        assert_eq!(verify(&purchase(bad, NONCE)), None, "{bad}");
    }
}

#[test]
fn nonce_has_its_length_and_its_alphabet() {
    for bad in ["", "0123456789abcde", "0123456789 abcdef", &"x".repeat(65)] {
        assert_eq!(verify(&purchase("1750000000", bad)), None, "{bad:?}");
    }
    assert!(verify(&purchase("1750000000", &"x".repeat(64))).is_some());
}

#[test]
fn same_nonce_of_two_clients_is_two_nonces() {
    let of = |client, nonce| nonce_key(client, nonce);
    assert_ne!(of("shop-1", NONCE), of("shop-2", NONCE));
    assert_ne!(of("shop-1", NONCE), of("shop-1", "0123456789abcdeg"));
    assert_eq!(
        verify(&good()).map(|vouched| vouched.nonce()),
        Some(of("shop-1", NONCE))
    );
}
