//! B-42: purchase tokens that are missing, another's, for another sale, altered, or used before; and whoever guesses the address of a sale.

use seckill_testkit::{Answer, Server};
use serde_json::{Value, json};

use super::house::Mode;

/// Characters of a token that are looked at one by one.
const URL_SAFE: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Asks for a purchase token, with these header lines besides.
fn token(server: &Server, sale: u64, user: &str, lines: &[&str]) -> Answer {
    let path = format!("/api/seckill/{sale}/token");
    let answer = server.as_user_with(user, "POST", &path, lines, None);
    answer.expect("answers")
}

fn text(answer: &Answer) -> String {
    answer.data()["token"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer:?}"))
        .to_owned()
}

/// Buys with this body, and these header lines besides.
fn buy(server: &Server, sale: u64, user: &str, lines: &[&str], body: &Value) -> (u16, i64) {
    let body = (!body.is_null()).then(|| body.to_string());
    let path = format!("/api/seckill/{sale}");
    let answer = server.as_user_with(user, "POST", &path, lines, body.as_deref());
    let answer = answer.expect("answers");
    (answer.status, answer.code())
}

/// The token with each of its characters exchanged for another, one at a time, and cut and continued.
fn altered(token: &str) -> Vec<String> {
    let other = |at: usize, byte: u8| {
        let known = URL_SAFE.iter().position(|known| *known == byte);
        let mut bytes = token.as_bytes().to_vec();
        bytes[at] = known.map_or(b'A', |known| URL_SAFE[(known + 1) % URL_SAFE.len()]);
        String::from_utf8(bytes).expect("ASCII")
    };
    let mut altered: Vec<_> = token.bytes().enumerate().map(|(at, byte)| other(at, byte)).collect();
    altered.extend([
        token[1..].to_owned(),
        token[..token.len() - 1].to_owned(),
        format!("{token}A"),
        format!("{token}="),
        format!(" {token}"),
        format!("{token}\0"),
        token.to_lowercase(),
        token.repeat(2),
        "A".repeat(token.len()),
        String::new(),
        "null".to_owned(),
    ]);
    altered
}

fn tokens_open_what_they_are_for(mode: Mode) {
    let house = mode.house(&[]);
    let server = house.server();
    let asking = |challenge: &str| server.sale(5, &json!({"challenge": challenge}));
    let [sale, other, worked] = [asking("token"), asking("token"), asking("pow")];
    let soon = server.sale(5, &json!({"challenge": "token", "starts_at": "2098-01-01T00:00:00Z"}));
    house.is_unmoved_by(|| {
        let [own, another] = ["a", "b"].map(|user| text(&token(server, sale, user, &[])));
        let elsewhere = text(&token(server, other, "a", &[]));
        let of_a_device = text(&token(server, sale, "a", &["X-Device-Id: one"]));
        let with = |token: &str| json!({ "token": token });
        let path = format!("/api/seckill/{sale}?token={own}&purchase_token={own}");
        let in_url = server.as_user("a", "POST", &path, None).expect("answers");
        let mut told = vec![
            ("none", buy(server, sale, "a", &[], &Value::Null)),
            ("none in a body", buy(server, sale, "a", &[], &json!({}))),
            ("in the URL", (in_url.status, in_url.code())),
            (
                "in a header",
                buy(server, sale, "a", &[&format!("X-Purchase-Token: {own}")], &Value::Null),
            ),
            ("another's", buy(server, sale, "a", &[], &with(&another))),
            ("of another", buy(server, sale, "b", &[], &with(&own))),
            ("of another sale", buy(server, sale, "a", &[], &with(&elsewhere))),
            ("for another sale", buy(server, other, "a", &[], &with(&own))),
            ("for a sale that wants work", buy(server, worked, "a", &[], &with(&own))),
            ("of a device", buy(server, sale, "a", &[], &with(&of_a_device))),
            (
                "of another device",
                buy(server, sale, "a", &["X-Device-Id: two"], &with(&of_a_device)),
            ),
            (
                "without its device",
                buy(server, sale, "a", &["X-Device-Id: one"], &with(&own)),
            ),
        ];
        let altered = altered(&own);
        told.extend(
            altered
                .iter()
                .map(|token| (token.as_str(), buy(server, sale, "a", &[], &with(token)))),
        );
        for (name, answer) in told {
            assert_eq!(answer, (403, 40_301), "{name}");
        }
        // The address can be guessed; before the start there is nothing behind it, and no token for it.
        let early = token(server, soon, "a", &[]);
        assert_eq!((early.status, early.code()), (403, 40_001), "{early:?}");
        assert_eq!(buy(server, soon, "a", &[], &with(&own)), (403, 40_001));
        for sale in [sale, other, worked, soon] {
            assert_eq!(server.settled(sale)["accepted"], 0, "sale {sale}");
        }
        // It is as good as before, and good once.
        let replayed = || buy(server, sale, "a", &[], &with(&own));
        assert_eq!(
            [replayed(), replayed(), replayed()],
            [(202, 0), (409, 40_004), (409, 40_004)]
        );
        assert_eq!(buy(server, sale, "c", &[], &with(&own)), (403, 40_301));
        let books = server.settled(sale);
        assert_eq!(
            (&books["accepted"], &books["balanced"]),
            (&json!(1), &json!(true)),
            "{books}"
        );
    });
}

#[test]
fn a_purchase_token_opens_its_sale_to_its_buyer_on_his_device_in_one_process() {
    tokens_open_what_they_are_for(Mode::OneProcess);
}

#[test]
fn a_purchase_token_opens_its_sale_to_its_buyer_on_his_device_on_redis() {
    tokens_open_what_they_are_for(Mode::Redis);
}
