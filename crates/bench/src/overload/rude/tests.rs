//! Rude people against a stub server.

use std::collections::BTreeMap;

use super::*;
use crate::outcome::Percentiles;
use crate::testing::{Reply, Stub};
use crate::token::{Signer, UserIds};

const NEVER: Duration = Duration::from_secs(600);

fn storm(address: SocketAddr, people: usize) -> Storm {
    Storm {
        targets: vec![address],
        crowd: Crowd {
            host: address,
            activity_id: 7,
            signer: Signer::new(b"secret", 1),
            users: UserIds::seeded(1),
        },
        people,
        rate_per_s: 1_000_000.0,
        leave_after: NEVER,
        connections: 4,
    }
}

fn header<'a>(request: &'a str, name: &str) -> &'a str {
    let line = request.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap().trim()
}

/// Answers each person's requests by how many of his came before.
fn by_tries(answer: impl Fn(u64) -> Reply + Send + Sync + 'static) -> Stub {
    let tries = Mutex::new(BTreeMap::<String, (String, u64)>::new());
    Stub::answering(move |request, _| {
        assert!(request.starts_with("POST /api/seckill/7 "), "{request}");
        let (key, token) = (header(request, "Idempotency-Key:"), header(request, "Authorization:"));
        let mut tries = tries.lock().unwrap();
        let (first_token, before) = tries.entry(key.to_owned()).or_insert((token.to_owned(), 0));
        assert_eq!(first_token, token, "one key, one person");
        *before += 1;
        answer(*before - 1)
    })
}

fn ticket() -> Reply {
    Stub::json(202, r#"{"code":0,"data":{"ticket":"t"}}"#).into()
}

#[test]
fn whoever_is_refused_asks_again_with_the_same_key_until_he_knows() {
    let stub = by_tries(|before| match before {
        0 => Stub::json(429, r#"{"code":40003}"#).into(),
        1 => Stub::closing(503, r#"{"code":50300}"#).into(),
        2 => Stub::hang_up(),
        3 => Stub::json(503, r#"{"code":50302}"#).into(),
        _ => ticket(),
    });
    let (load, people) = run(storm(stub.address, 10)).unwrap();
    assert_eq!(
        (people.wanted, people.came, people.accepted, people.left),
        (10, 10, 10, 0)
    );
    assert_eq!((people.requests, people.requests_each), (50, 5.0));
    let by_status = [429, 503, 202].map(|status| load.with_status(status));
    assert_eq!((by_status, load.unanswered_total()), ([10, 20, 10], 10));
    assert_eq!((load.requests, load.accepted, load.unknown.len()), (50, 10, 0));
}

#[test]
fn sold_out_and_a_ticket_from_before_end_the_tries() {
    let stub = by_tries(|before| match before {
        0 => Stub::json(503, r#"{"code":50302}"#).into(),
        _ => Stub::json(409, r#"{"code":40004}"#).into(),
    });
    let (load, people) = run(storm(stub.address, 6)).unwrap();
    assert_eq!((people.requests, people.accepted, load.unknown.len()), (12, 0, 6));
    let stub = by_tries(|before| match before {
        0 => Stub::json(429, r#"{"code":40003}"#).into(),
        _ => Stub::json(410, r#"{"code":40005}"#).into(),
    });
    let (load, people) = run(storm(stub.address, 6)).unwrap();
    assert_eq!((people.requests, people.accepted, load.unknown.len()), (12, 0, 0));
}

#[test]
fn all_leave_at_the_end_and_those_who_found_no_connection_never_came() {
    let stub = by_tries(|_| Stub::json(503, r#"{"code":50300}"#).into());
    let hopeless = Storm {
        leave_after: Duration::from_millis(200),
        ..storm(stub.address, 1_000)
    };
    let (load, people) = run(hopeless).unwrap();
    assert_eq!(
        (people.wanted, people.came, people.accepted, people.left),
        (1_000, 4, 0, 4)
    );
    assert_eq!(load.unknown.len(), 4);
    // Four at the most were on their way when all left.
    let answered = load.with_status(503);
    assert!(
        answered <= people.requests && people.requests <= answered + 4,
        "{people:?} {load:?}"
    );
    assert!(4 < answered && load.unanswered_total() == 0, "{load:?}");
}

#[test]
fn the_wait_of_the_accepted_counts_from_when_they_wanted_to_come() {
    // One connection, two people at once; the first one is kept for 300 ms by his second try.
    let kept = Duration::from_millis(300);
    let stub = Stub::answering(move |_, number| match number {
        0 => Stub::json(503, r#"{"code":50300}"#).into(),
        1 => {
            std::thread::sleep(kept);
            ticket()
        }
        _ => ticket(),
    });
    let one_by_one = Storm {
        connections: 1,
        ..storm(stub.address, 2)
    };
    let (load, people) = run(one_by_one).unwrap();
    let kept_ms = kept.as_secs_f64() * 1000.0;
    let Percentiles {
        count, p50_ms, max_ms, ..
    } = load.accepted_latency;
    assert!(count == 2 && kept_ms <= p50_ms && kept_ms <= max_ms, "{load:?}");
    // The second person's own requests took no such time.
    assert!(
        kept_ms <= people.accepted_after.max_ms && people.accepted_after.p50_ms < kept_ms,
        "{people:?}"
    );
}

#[test]
fn a_server_that_is_gone_keeps_nobody_from_leaving() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let once = std::thread::spawn(move || drop(listener.accept().unwrap()));
    let gone = Storm {
        connections: 1,
        leave_after: Duration::from_millis(200),
        ..storm(address, 2)
    };
    let (load, people) = run(gone).unwrap();
    once.join().unwrap();
    assert_eq!((people.came, people.left), (1, 1));
    assert!(1 < load.unanswered_total(), "{load:?}");
}
