//! The one table of refusals that holds for all ways to a ticket.

use seckill_testkit::{Answer, Server, Wire};
use serde_json::{Value, json};

use super::made;
use super::ways::{
    Way, Wish, bare_of_a_gateway, bare_with_a_token, body_of_a_gateway, body_with_a_token, chunks_with_a_token, legacy,
    signed,
};
use crate::identity::SHOP_SECRET;
use crate::program;

const BURST: usize = 3;

/// One server, and a way to its tickets.
struct Walk<'a> {
    server: &'a Server,
    way: Way,
    /// Tells this walk's users, addresses and lines of the table from others'.
    name: &'static str,
    told: Vec<(&'static str, u16, i64, Value)>,
}

impl Walk<'_> {
    fn ask(&self, user: Option<&str>, address: u8, sale: u64) -> Answer {
        let user = user.map(|user| format!("{user}-{}", self.name));
        let address = format!("203.0.{}.{address}", self.name.len());
        let wish = Wish {
            user: user.as_deref(),
            address: &address,
            sale,
        };
        let mut wire = Wire::open(self.server.public).expect("it listens");
        wire.send((self.way)(self.server, &wish)).expect("sent");
        wire.answer().expect("answered")
    }

    fn note(&mut self, what: &'static str, answer: &Answer) {
        self.told
            .push((what, answer.status, answer.code(), answer.data()["scope"].clone()));
    }

    /// Asks as somebody who has not asked before, from where nobody has.
    fn hear(&mut self, what: &'static str, user: Option<&str>, sale: u64) {
        let address = u8::try_from(self.told.len() + 1).expect("few lines");
        let answer = self.ask(user, address, sale);
        self.note(what, &answer);
    }

    fn switch(&self, switches: &Value) {
        let switched = self.server.as_admin("PATCH", "/admin/api/switches", Some(switches));
        assert_eq!(switched.status, 200, "{switched:?}");
    }

    fn act(&self, sale: u64, act: &str) {
        made(self.server, &format!("/admin/api/activities/{sale}/{act}"), &json!({}));
    }

    /// Everything that keeps somebody from a ticket, alone and in the company of what is told later.
    fn through(&mut self) {
        let server = self.server;
        let [open, soon, both, closed, one, asks] = [
            server.sale(9, &json!({})),
            server.sale(9, &json!({"starts_at": "2098-01-01T00:00:00Z", "challenge": "token"})),
            server.sale(9, &json!({"starts_at": "2098-01-01T00:00:00Z"})),
            server.sale(9, &json!({})),
            server.sale(1, &json!({})),
            server.sale(9, &json!({"challenge": "token"})),
        ];
        self.act(both, "pause");
        self.act(closed, "close");
        let blocked = json!({"kind": "user", "value": format!("blocked-{}", self.name)});
        made(server, "/admin/api/blocks", &blocked);
        for _ in 0..BURST {
            let _spent = self.ask(None, 200, closed);
        }
        let limited = self.ask(None, 200, closed);
        self.note("address limited, and nobody", &limited);
        self.hear("nobody", None, closed);
        self.hear("no such sale, and blocked", Some("blocked"), 999);
        self.hear("blocked, and paused", Some("blocked"), both);
        self.hear("paused, and not started", Some("b"), both);
        self.hear("not started, and no challenge met", Some("b"), soon);
        self.hear("closed", Some("b"), closed);
        self.switch(&json!({"entry_open": false}));
        self.hear("entrance shut", Some("b"), open);
        self.switch(&json!({"entry_open": true, "read_only": true}));
        self.hear("read only", Some("b"), open);
        self.switch(&json!({"read_only": false, "admit_ratio": 0.0}));
        self.hear("nobody is admitted", Some("b"), open);
        self.switch(&json!({"admit_ratio": 1.0}));
        self.hear("no challenge met", Some("b"), asks);
        self.hear("a ticket", Some("c"), open);
        self.hear("took part", Some("c"), open);
        self.hear("took part, a third time", Some("c"), open);
        self.hear("too often, and took part", Some("c"), open);
        self.hear("the last unit", Some("d"), one);
        self.hear("sold out", Some("e"), one);
    }
}

#[test]
fn every_way_to_a_ticket_passes_the_same_gates_in_the_same_order() {
    let limits = [
        ("SECKILL_LIMITS__IP", "1/min burst 3"),
        ("SECKILL_LIMITS__USER", "1/min burst 3"),
    ];
    let proxies = ("SECKILL_SERVER__TRUSTED_PROXIES", "127.0.0.0/8");
    let gateway = ("SECKILL_AUTH__MODE", "gateway");
    let keys = format!("shop-1:{SHOP_SECRET}");
    let clients = ("SECKILL_CLIENTS__KEYS", keys.as_str());
    let tokens = Server::start_with(&program(), &[limits[0], limits[1], proxies, clients]);
    let gateways = Server::start_with(&program(), &[limits[0], limits[1], proxies, gateway]);
    let ways: [(&Server, Way, &'static str); 7] = [
        (&tokens, bare_with_a_token, "bare"),
        (&tokens, body_with_a_token, "a body"),
        (&tokens, chunks_with_a_token, "chunked"),
        (&gateways, bare_of_a_gateway, "bare"),
        (&gateways, body_of_a_gateway, "a body"),
        (&gateways, legacy, "the old one"),
        (&tokens, signed, "signed"),
    ];
    let expected = [
        ("address limited, and nobody", 429, 40_003, json!("ip")),
        ("nobody", 401, 40_100, Value::Null),
        ("no such sale, and blocked", 404, 40_400, Value::Null),
        ("blocked, and paused", 403, 40_300, Value::Null),
        ("paused, and not started", 503, 40_006, Value::Null),
        ("not started, and no challenge met", 403, 40_001, Value::Null),
        ("closed", 403, 40_002, Value::Null),
        ("entrance shut", 503, 40_006, Value::Null),
        ("read only", 503, 40_006, Value::Null),
        ("nobody is admitted", 503, 50_300, Value::Null),
        ("no challenge met", 403, 40_301, Value::Null),
        ("a ticket", 202, 0, Value::Null),
        ("took part", 409, 40_004, Value::Null),
        ("took part, a third time", 409, 40_004, Value::Null),
        ("too often, and took part", 429, 40_003, json!("user")),
        ("the last unit", 202, 0, Value::Null),
        ("sold out", 410, 40_005, Value::Null),
    ];
    for (at, (server, way, name)) in ways.into_iter().enumerate() {
        let mut walk = Walk {
            server,
            way,
            name: ["w", "wa", "wal", "x", "xy", "xyz", "walk"][at],
            told: Vec::new(),
        };
        walk.through();
        assert_eq!(walk.told, expected, "{name}, way {at}");
    }
}
