//! B-41: event streams of people who mean harm: a thousand of one user, and ids of events that are none.

use seckill_testkit::{Answer, Wire};
use serde_json::json;

use super::house::{House, Mode};
use super::stage::request;

/// Streams that one user wants, each on a connection of its own.
const WANTED: usize = 1_000;
/// Streams that a user has.
const OF_A_USER: usize = 4;
/// Room for them and everybody else at one address.
const ROOM: [(&str, &str); 1] = [("SECKILL_SERVER__CONNECTIONS_PER_IP", "3000")];
/// What is in ids of events and never in an answer.
const MARK: &str = "evil-mark";

/// Ids of events, none of which there ever was; header lines behind them come as they are.
fn ids() -> Vec<String> {
    let ids = [
        MARK.to_owned(),
        format!("winner-{MARK}"),
        format!("%0d%0adata: {MARK}"),
        format!("\\r\\ndata: {MARK}"),
        format!("1\r\ndata: {MARK}"),
        format!("\u{fffd}{MARK}\u{2028}"),
        format!("'; DROP TABLE orders; -- {MARK}"),
        MARK.repeat(800),
    ];
    let mut lines: Vec<_> = ids.iter().map(|id| format!("Last-Event-ID: {id}")).collect();
    lines.push(format!("Last-Event-ID: {MARK}\r\nLast-Event-ID: {MARK}-2"));
    lines
}

/// An open stream of events.
pub(super) struct Stream(Wire);

impl Stream {
    /// Opens one; else the refusal.
    pub(super) fn open(house: &House, sale: u64, user: &str, lines: &[&str]) -> Result<Self, Answer> {
        let mut wire = Wire::open(house.server().public).expect("it listens");
        Self::ask(house, &mut wire, sale, user, lines);
        Self::opened(wire).map_err(|(_, refused)| refused)
    }

    fn ask(house: &House, wire: &mut Wire, sale: u64, user: &str, lines: &[&str]) {
        let bearer = format!("Authorization: Bearer {}", house.server().token(user));
        let lines: Vec<_> = [bearer.as_str()].into_iter().chain(lines.iter().copied()).collect();
        let path = format!("/api/seckill/events/{sale}");
        wire.send(request("GET", &path, &lines, "")).expect("sent");
    }

    /// What an asked connection becomes; else the refusal, and the connection that goes on.
    fn opened(mut wire: Wire) -> Result<Self, (Wire, Answer)> {
        let mut head = wire.head().expect("an answer");
        if head.status != 200 {
            let body = wire.take(head.header("content-length").parse().expect("a length"));
            head.json = serde_json::from_slice(&body.expect("a body")).expect("JSON");
            return Err((wire, head));
        }
        assert!(!head.head.contains(MARK), "{}", head.head);
        Ok(Self(wire))
    }

    /// The result that it tells in the end, in an event that has no id; whatever it says before is not what its reader has sent.
    pub(super) fn told(mut self) -> String {
        let said = self.0.until(b"\r\n0\r\n\r\n").expect("an end");
        let said = String::from_utf8(said).expect("text");
        assert!(!said.contains(MARK) && !said.contains("\nid:"), "{said}");
        assert_eq!(said.matches("event: result\ndata: {\"code\":1,").count(), 1, "{said}");
        said
    }
}

fn many_streams_harm_nobody(house: &House) {
    let sale = house.server().sale(50, &json!({}));
    house.is_unmoved_by(|| {
        let withheld = house.withhold();
        let buys = |user: &str| assert_eq!(house.server().buy(sale, user, "k").expect("answers").status, 202);
        let opens = |user: &str, lines: &[&str]| {
            Stream::open(house, sale, user, lines).unwrap_or_else(|refused| panic!("{user}: {refused:?}"))
        };
        buys("neighbour");
        buys("hoarder");
        let mut open = vec![opens("neighbour", &[])];
        open.extend((0..OF_A_USER).map(|_| opens("hoarder", &[])));
        let wires: Vec<_> = (OF_A_USER..WANTED)
            .map(|_| {
                let mut wire = Wire::open(house.server().public).expect("it listens");
                Stream::ask(house, &mut wire, sale, "hoarder", &[]);
                wire
            })
            .collect();
        for wire in wires {
            let (mut wire, refused) = Stream::opened(wire).err().expect("he has enough");
            assert_eq!((refused.status, refused.code()), (429, 42_901), "{refused:?}");
            assert!(
                refused.header("retry-after").parse::<u64>().is_ok_and(|wait| 1 <= wait),
                "{refused:?}"
            );
            // The connection goes on.
            wire.send(request("GET", "/api/time", &[], "")).expect("it goes on");
            assert_eq!(wire.answer().expect("an answer").status, 200);
        }
        for (at, id) in ids().iter().enumerate() {
            let reader = format!("reader-{at}");
            buys(&reader);
            open.push(opens(&reader, &[id]));
        }
        assert_eq!(house.metric("seckill_streams{kind=\"sse\"}"), 1.0 + 4.0 + 9.0);
        drop(withheld);
        for stream in open {
            let _result = stream.told();
        }
        assert_eq!(house.server().settled(sale)["balanced"], true);
        let gone = |streams: &f64| *streams < 1.0;
        let _none = house
            .server()
            .until(|| house.metric("seckill_streams{kind=\"sse\"}"), gone);
    });
}

#[test]
fn a_thousand_streams_of_one_user_are_four_and_ids_of_events_are_never_echoed_in_one_process() {
    many_streams_harm_nobody(&Mode::OneProcess.house(&ROOM));
}

#[test]
fn a_thousand_streams_of_one_user_are_four_and_ids_of_events_are_never_echoed_on_redis() {
    many_streams_harm_nobody(&Mode::Redis.house(&ROOM));
}
