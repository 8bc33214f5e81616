//! Slow and silent clients are closed, and told why where there is something to tell.

use std::io::Write;
use std::time::Duration;

use seckill_listener::Limits;

use crate::client::{Client, wait_until};
use crate::start::{SHORT, patient, start};

/// Sends `bytes` again and again until the listener no longer takes it.
fn trickle(client: &mut Client, bytes: &[u8]) -> std::thread::JoinHandle<()> {
    let mut stream = client.stream().try_clone().expect("an open socket");
    let bytes = bytes.to_vec();
    std::thread::spawn(move || {
        while stream.write_all(&bytes).is_ok() {
            // Not so fast that size, not time, becomes the limit.
            std::thread::park_timeout(Duration::from_millis(1));
        }
    })
}

#[test]
fn silent_connection_is_closed_without_a_word() {
    let server = start(Limits {
        first_byte_timeout: SHORT,
        ..patient()
    });
    assert!(Client::connect(server.address).closes_silently());
}

#[test]
fn idle_connection_is_closed_without_a_word() {
    let server = start(Limits {
        idle_timeout: SHORT,
        ..patient()
    });
    let mut client = Client::connect(server.address);
    assert_eq!(client.get("/").status, 200);
    assert!(client.closes_silently());
}

#[test]
fn idle_connection_outlives_the_deadline_of_a_head() {
    let server = start(Limits {
        header_timeout: SHORT,
        ..patient()
    });
    let mut idle = Client::connect(server.address);
    assert_eq!(idle.get("/").status, 200);
    // Its 408 shows that the deadline of a head has passed in the meantime.
    let mut slow = Client::connect(server.address);
    assert_eq!(slow.send("GET / HT").reply().status, 408);
    assert_eq!(idle.get("/").status, 200);
}

#[test]
fn started_head_gets_408() {
    let server = start(Limits {
        header_timeout: SHORT,
        ..patient()
    });
    let mut client = Client::connect(server.address);
    assert_eq!(client.get("/").status, 200);
    let reply = client.send("GET / HTTP/1.1\r\nHos").reply();
    assert_eq!((reply.status, reply.body.as_str()), (408, "{\"status\":408}"));
    assert!(reply.has("server-time: 1700000000000"));
    assert!(reply.has("connection: close"));
    assert!(client.closes_silently());
    assert_eq!(server.handle().counts().slow_total(), 1);
}

#[test]
fn trickled_head_gets_408_though_bytes_keep_coming() {
    let server = start(Limits {
        header_timeout: SHORT,
        ..patient()
    });
    let mut client = Client::connect(server.address);
    client.send("GET / HTTP/1.1\r\nX: ");
    let trickle = trickle(&mut client, b"x");
    assert_eq!(client.reply().status, 408);
    drop(client);
    drop(server);
    trickle.join().unwrap();
}

#[test]
fn trickled_body_gets_the_service_s_408() {
    let server = start(Limits {
        body_timeout: SHORT,
        ..patient()
    });
    let mut client = Client::connect(server.address);
    client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nabc");
    let reply = client.reply();
    assert_eq!((reply.status, reply.body.as_str()), (408, "slow body"));
    assert!(reply.has("connection: close"), "{}", reply.head);
    assert!(client.closes_silently());
    assert_eq!(server.handle().counts().slow_total(), 1);
}

#[test]
fn trickled_chunks_gain_no_time() {
    let server = start(Limits {
        body_timeout: SHORT,
        ..patient()
    });
    let mut client = Client::connect(server.address);
    client.send("POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n");
    let trickle = trickle(&mut client, b"1\r\nx\r\n");
    assert_eq!(client.reply().status, 408);
    drop(client);
    drop(server);
    trickle.join().unwrap();
}

#[test]
fn client_that_never_reads_is_reset() {
    let server = start(Limits {
        write_stall_timeout: SHORT,
        ..patient()
    });
    let mut client = Client::connect(server.address);
    client.send("GET /endless HTTP/1.1\r\nHost: test\r\n\r\n");
    let counts = server.handle().counts();
    wait_until(|| counts.stalled_total() == 1 && counts.open() == 0);
}
