//! B-08: a hundred thousand ids of no sale, each another. Nobody is asked about any of them: what a node knows of sales is in its memory.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::ops::Range;

use seckill_testkit::{Postgres, Redis, Wire};

use super::Stage;
use super::house::{House, Mode};
use super::stage::request;

/// Every route that has the id of a sale.
const ROUTES: [(&str, &str); 6] = [
    ("POST", "/api/seckill/{id}"),
    ("POST", "/api/seckill/{id}/token"),
    ("GET", "/api/activities/{id}"),
    ("GET", "/api/seckill/result/{id}"),
    ("GET", "/api/seckill/events/{id}"),
    ("GET", "/api/seckill/ws/{id}"),
];
/// Ids that each of them is asked for.
const IDS: usize = 16_700;
const REQUESTS: usize = ROUTES.len() * IDS;
/// Requests that go out before their answers are read; both fit into what the sockets hold.
const AHEAD: usize = 100;
/// How all the ids begin, and nothing else: it would show in what servers are told.
const BEGIN: &str = "90071992";
/// What remembers something of each id would take more: a hundred bytes of each are twice as much.
const MEMORY_MORE_MAX: u64 = 5 << 20;

/// No id is asked for twice, on whatever route.
fn id(route: usize, at: usize) -> u64 {
    let nth = u64::try_from(route * IDS + at).expect("small");
    (1 << 53) - 1 - nth * 127
}

/// Asks one route for some of its ids; what was answered otherwise than it should.
fn ask(stage: &Stage, route: usize, ids: Range<usize>) -> Vec<String> {
    let (method, path) = ROUTES[route];
    let bearer = stage.bearer();
    let bytes = |id: u64| request(method, &path.replace("{id}", &id.to_string()), &[&bearer], "");
    let mut wire = Wire::open(stage.server.public).expect("it listens");
    let mut wrong = Vec::new();
    for begin in ids.clone().step_by(AHEAD) {
        let ids = begin..ids.end.min(begin + AHEAD);
        let together: Vec<u8> = ids.clone().flat_map(|at| bytes(id(route, at))).collect();
        wire.send(together).expect("it reads on");
        for at in ids {
            let answer = wire.answer().expect("an answer to each");
            if (answer.status, answer.code()) != (404, 40_400) {
                wrong.push(format!("{method} {path} {}: {answer:?}", id(route, at)));
            }
        }
    }
    wrong
}

/// Asks all routes at once for these of their ids.
fn flood(house: &House, ids: &Range<usize>) {
    let stage = &house.stage;
    let wrong: Vec<_> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..ROUTES.len())
            .map(|route| scope.spawn(move || ask(stage, route, ids.clone())))
            .collect();
        asking
            .into_iter()
            .flat_map(|one| one.join().expect("no panic"))
            .collect()
    });
    assert!(wrong.is_empty(), "{} wrong answers: {}", wrong.len(), wrong[0]);
}

#[test]
fn a_flood_of_unknown_ids_is_answered_from_memory_in_one_process() {
    let house = Mode::OneProcess.house(&[]);
    let steps = || house.metric("seckill_store_command_duration_seconds_count");
    house.is_unmoved_by(|| {
        let steps_before = steps();
        // The first ones take what every client takes.
        flood(&house, &(0..IDS / 10));
        let before = house.memory_bytes();
        flood(&house, &(IDS / 10..IDS));
        let more = house.memory_bytes().saturating_sub(before);
        assert!(more < MEMORY_MORE_MAX, "{more} bytes more after {REQUESTS} ids");
        // An idle store takes none; one that belongs to the sale may come late.
        assert!(steps() - steps_before < 10.0, "{} steps of the store", steps());
    });
}

/// What a Redis is told from now on, by whomever.
struct Monitor(BufReader<TcpStream>);

impl Monitor {
    fn begin(redis: &Redis) -> Self {
        let mut stream = TcpStream::connect(redis.address()).expect("it listens");
        stream.write_all(b"MONITOR\r\n").expect("sent");
        let mut lines = BufReader::new(stream);
        let mut fine = String::new();
        lines.read_line(&mut fine).expect("an answer");
        assert_eq!(fine, "+OK\r\n");
        Self(lines)
    }

    fn end(self, redis: &Redis) -> Vec<String> {
        const END: &str = "nobody else says this";
        redis.expect(&["ECHO", END], "$");
        let lines = self.0.lines().map(|line| line.expect("a line"));
        lines.take_while(|line| !line.contains(END)).collect()
    }
}

/// Statements in a server's log, each with what it was told for them.
fn statements(log: &str) -> Vec<&str> {
    log.split("LOG:  ")
        .filter(|entry| entry.starts_with("execute ") || entry.starts_with("statement: "))
        .collect()
}

#[test]
fn a_flood_of_unknown_ids_reaches_neither_redis_nor_database() {
    let house = House::on(Postgres::alone(&["log_statement=all"]));
    let (redis, database) = (
        house.redis.as_ref().expect("one"),
        house.database.as_ref().expect("one"),
    );
    house.is_unmoved_by(|| {
        let (monitor, logged) = (Monitor::begin(redis), database.log().len());
        flood(&house, &(0..IDS));
        let (commands, log) = (monitor.end(redis), database.log().split_off(logged));
        let statements = statements(&log);
        for told in commands.iter().map(String::as_str).chain(statements.iter().copied()) {
            assert!(!told.contains(BEGIN), "{told}");
        }
        // What a node tells both of them by itself, some dozens a second: far less than one thing for each id.
        for (who, told) in [("Redis", commands.len()), ("PostgreSQL", statements.len())] {
            assert!((1..REQUESTS / 10).contains(&told), "{who} was told {told} things");
        }
    });
}
