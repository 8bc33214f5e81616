//! Connections are reused, in both versions of HTTP and pipelined.

use crate::client::{Client, wait_until};
use crate::start::{patient, start, start_on};

#[test]
fn one_connection_carries_many_requests() {
    let server = start(patient());
    let mut client = Client::connect(server.address);
    for _ in 0..100 {
        client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\nhi");
        let reply = client.reply();
        assert_eq!((reply.status, reply.body.as_str()), (200, "got hi"));
    }
    assert_eq!(server.handle().counts().accepted_total(), 1);
    assert_eq!(server.handle().counts().open(), 1);
}

#[test]
fn http_1_0_closes_after_its_answer() {
    let server = start(patient());
    let mut client = Client::connect(server.address);
    client.send("GET / HTTP/1.0\r\n\r\n");
    assert_eq!(client.reply().status, 200);
    assert!(client.closes_silently());
}

#[test]
fn http_1_0_keeps_alive_when_asked_to() {
    let server = start(patient());
    let mut client = Client::connect(server.address);
    for _ in 0..2 {
        client.send("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
        let reply = client.reply();
        assert_eq!(reply.status, 200);
        assert!(reply.has("connection: keep-alive"), "{}", reply.head);
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = start(patient());
    let mut client = Client::connect(server.address);
    let one = |body: &str| format!("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\n\r\n{body}");
    client.send(["a", "b", "c"].map(one).concat());
    for expect in ["got a", "got b", "got c"] {
        assert_eq!(client.reply().body, expect);
    }
}

#[test]
fn a_stray_line_end_behind_a_body_delays_nothing() {
    let server = start(patient());
    let mut client = Client::connect(server.address);
    for _ in 0..2 {
        client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\nhi\r\n");
        assert_eq!(client.reply().body, "got hi");
    }
}

#[test]
fn refusing_without_reading_keeps_a_small_body_s_connection() {
    let server = start(patient());
    let mut client = Client::connect(server.address);
    for _ in 0..2 {
        client.send("POST /unread HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\nhi");
        let reply = client.reply();
        assert_eq!(reply.status, 401);
        assert!(!reply.has("connection: close"));
    }
}

#[test]
fn refusing_without_reading_a_large_body_says_close() {
    let server = start(patient());
    let mut client = Client::connect(server.address);
    client.send("POST /unread HTTP/1.1\r\nHost: test\r\nContent-Length: 9000000\r\n\r\n");
    client.send(vec![b'x'; 100_000]);
    let reply = client.reply();
    assert_eq!(reply.status, 401);
    assert!(reply.has("connection: close"));
}

#[test]
fn chunked_body_is_read_and_its_connection_closes() {
    let server = start(patient());
    let mut client = Client::connect(server.address);
    client.send("POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n");
    let reply = client.reply();
    assert_eq!(reply.body, "got hi");
    assert!(reply.has("connection: close"));
}

#[test]
fn connections_spread_evenly_over_the_cores() {
    let server = start_on(4, patient());
    let mut clients = Vec::from_iter((0..64).map(|_| Client::connect(server.address)));
    let mut per_core = [0; 4];
    for client in &mut clients {
        let core = client.get("/core").body.parse::<usize>().expect("an index");
        per_core[core] += 1;
    }
    assert_eq!(per_core, [16; 4]);
}

#[test]
fn core_that_lost_connections_gets_the_next_ones() {
    let server = start_on(2, patient());
    let mut clients = Vec::from_iter((0..4).map(|_| Client::connect(server.address)));
    clients.retain_mut(|client| client.get("/core").body == "1");
    assert_eq!(clients.len(), 2);
    wait_until(|| server.handle().counts().open() == 2);
    let mut next = Vec::from_iter((0..2).map(|_| Client::connect(server.address)));
    for client in &mut next {
        assert_eq!(client.get("/core").body, "0");
    }
}

#[test]
fn service_learns_its_peer() {
    let server = start(patient());
    let mut client = Client::connect(server.address);
    let here = client.stream().local_addr().unwrap().to_string();
    assert_eq!(client.get("/peer").body, here);
}
