//! B-40: WebSockets of people who mean harm. Each is closed with a code that says why, and the others hear their results.

use serde_json::json;

use super::house::{House, Mode};
use super::socket::{BINARY, CLOSE, CONTINUATION, FIN, PING, PONG, Socket, TEXT, announced, frame};

/// As many frames as a flood has.
const FLOOD: usize = 100_000;
/// Sixteen megabytes.
const LARGE: usize = 16 << 20;
/// What is sent is never kept: a few of the large ones would be more.
const MEMORY_MORE_MAX: u64 = 48 << 20;
/// What everybody with a ticket waits for.
const UNITS: u64 = 64;

const PROTOCOL: u16 = 1002;
const INVALID: u16 = 1007;
const POLICY: u16 = 1008;
const SIZE: u16 = 1009;
const TOO_MANY: &str = "too many messages";
const TOO_MANY_FRAMES: &str = "too many frames";
const TOO_LARGE: &str = "a message was too large";
const ILL_FORMED: &str = "a frame was ill-formed";
const NO_TEXT: &str = "a text was not UTF-8";

/// What somebody sends once his socket is open, and what he hears for it.
struct Attack {
    name: &'static str,
    bytes: Vec<u8>,
    code: u16,
    reason: &'static str,
}

const fn attack(name: &'static str, bytes: Vec<u8>, code: u16, reason: &'static str) -> Attack {
    Attack {
        name,
        bytes,
        code,
        reason,
    }
}

/// Too much of something.
fn floods() -> Vec<Attack> {
    let whole = |kind: u8, payload: &[u8]| frame(FIN | kind, payload);
    let fragments = |payload: &[u8], count: usize| {
        let mut bytes = frame(TEXT, payload);
        bytes.extend(frame(CONTINUATION, payload).repeat(count));
        bytes
    };
    let subscribed: Vec<u8> = (0..FLOOD)
        .flat_map(|at| whole(TEXT, format!("{{\"subscribe\":{at}}}").as_bytes()))
        .collect();
    let large = u64::try_from(LARGE).expect("fits");
    vec![
        attack("16 MB announced", announced(FIN | TEXT, large), SIZE, TOO_LARGE),
        attack("16 MB", whole(BINARY, &vec![b'x'; LARGE]), SIZE, TOO_LARGE),
        attack("2^63 bytes", announced(FIN | TEXT, (1 << 63) - 1), SIZE, TOO_LARGE),
        attack("2^64 bytes", announced(FIN | TEXT, u64::MAX), SIZE, TOO_LARGE),
        attack(
            "16 MB in parts of 4 KB",
            fragments(&[b'x'; 4096], LARGE / 4096),
            SIZE,
            TOO_LARGE,
        ),
        attack("parts of a byte", fragments(b"x", FLOOD), POLICY, TOO_MANY_FRAMES),
        attack("parts of nothing", fragments(b"", FLOOD), POLICY, TOO_MANY_FRAMES),
        attack("a ping too many", whole(PING, b"p").repeat(17), POLICY, TOO_MANY),
        attack("pongs", whole(PONG, b"p").repeat(FLOOD), POLICY, TOO_MANY),
        attack("subscriptions", subscribed, POLICY, TOO_MANY),
        attack(
            "messages of nothing",
            whole(BINARY, b"").repeat(FLOOD),
            POLICY,
            TOO_MANY,
        ),
    ]
}

/// Frames that no standard allows.
fn broken() -> Vec<Attack> {
    let in_text = |next: Vec<u8>| [frame(TEXT, b"a"), next].concat();
    let unmasked = vec![FIN | TEXT, 1, b'a'];
    let half = [
        in_text(frame(CONTINUATION, b"\xe2\x82")),
        frame(FIN | CONTINUATION, b""),
    ];
    let texts = [
        attack("no UTF-8", frame(FIN | TEXT, b"\xff"), INVALID, NO_TEXT),
        attack("half a character", half.concat(), INVALID, NO_TEXT),
    ];
    let frames = [
        ("no mask", unmasked),
        ("a reserved bit", frame(FIN | 0x40 | TEXT, b"a")),
        ("an unknown kind", frame(FIN | 3, b"a")),
        ("an unknown kind of control", frame(FIN | 11, b"a")),
        ("a large ping", frame(FIN | PING, &[b'p'; 126])),
        ("a ping in parts", frame(PING, b"p")),
        ("a part of nothing", frame(FIN | CONTINUATION, b"a")),
        ("a text within a text", in_text(frame(FIN | TEXT, b"b"))),
        ("half a code", frame(FIN | CLOSE, b"\x03")),
    ]
    .map(|(name, bytes)| attack(name, bytes, PROTOCOL, ILL_FORMED));
    frames.into_iter().chain(texts).collect()
}

fn path(activity: u64) -> String {
    format!("/api/seckill/ws/{activity}")
}

fn opened(house: &House, activity: u64, user: &str) -> Result<Socket, (u16, i64)> {
    let protocols = format!(
        "Sec-WebSocket-Protocol: seckill.v1, bearer.{}",
        house.server().token(user)
    );
    Socket::open(house.server(), &path(activity), &[&protocols])
}

/// Sales whose tickets wait for their results, and what everybody does there.
fn floods_end(house: &House) {
    let sale = house.server().sale(UNITS, &json!({}));
    let attacks: Vec<_> = floods().into_iter().chain(broken()).collect();
    house.is_unmoved_by(|| {
        let withheld = house.withhold();
        let buys = |user: &str| assert_eq!(house.server().buy(sale, user, "k").expect("answers").status, 202);
        buys("neighbour");
        let mut neighbour = opened(house, sale, "neighbour").expect("opened");
        let before = house.memory_bytes();
        let mut wrong = Vec::new();
        for (at, attack) in attacks.iter().enumerate() {
            let user = format!("attacker-{at}");
            buys(&user);
            let mut socket = opened(house, sale, &user).expect("opened");
            socket.send(&attack.bytes);
            let closed = socket.closed();
            if closed != Some((attack.code, attack.reason.to_owned())) {
                wrong.push(format!("{}: {closed:?}", attack.name));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
        // Each of the first ones is answered, and the reason of the close may be lost behind all that is unread.
        buys("pinging");
        let mut pinging = opened(house, sale, "pinging").expect("opened");
        pinging.send(&frame(FIN | PING, b"p").repeat(FLOOD));
        let closed = pinging.closed();
        assert!(closed.is_none_or(|(code, reason)| (code, reason.as_str()) == (POLICY, TOO_MANY)));
        let more = house.memory_bytes().saturating_sub(before);
        assert!(more < MEMORY_MORE_MAX, "{more} bytes more");
        drop(withheld);
        let told = neighbour.message().expect("told");
        assert_eq!(
            (&told["code"], &told["data"]["state"]),
            (&json!(1), &json!("succeeded")),
            "{told}"
        );
        assert_eq!(house.server().settled(sale)["balanced"], true);
    });
}

#[test]
fn sockets_that_send_too_much_or_nonsense_are_closed_and_harm_nobody_in_one_process() {
    floods_end(&Mode::OneProcess.house(&[]));
}

#[test]
fn sockets_that_send_too_much_or_nonsense_are_closed_and_harm_nobody_on_redis() {
    floods_end(&Mode::Redis.house(&[]));
}
