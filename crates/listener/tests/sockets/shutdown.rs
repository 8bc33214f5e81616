//! The shutdown answers what was asked, waits for nobody who is silent, and ends.

use std::net::TcpStream;
use std::time::Duration;

use seckill_listener::{BACKLOG_DEFAULT, Error, Limits, Listener, hello};
use tokio_util::sync::CancellationToken;

use crate::client::{Client, wait_until};
use crate::start::{Running, join, patient, server, start};

/// Blocks until `count` requests of `/held` are with the service.
fn wait_for_held(server: &Running, count: usize) {
    wait_until(|| count <= server.reached.available_permits());
}

const HELD: &str = "GET /held HTTP/1.1\r\nHost: test\r\n\r\n";

#[test]
fn open_request_gets_its_real_answer() {
    let mut server = start(patient());
    let mut client = Client::connect(server.address);
    client.send(HELD);
    wait_for_held(&server, 1);
    server.shutdown.cancel();
    // No new connection is taken once the socket is closed.
    wait_until(|| TcpStream::connect(server.address).is_err());
    server.release.add_permits(1);
    let reply = client.reply();
    assert_eq!((reply.status, reply.body.as_str()), (200, "held"));
    assert!(reply.has("connection: close"));
    assert!(client.closes_silently());
    server.join();
}

#[test]
fn idle_and_silent_connections_do_not_hold_it_up() {
    let hours = Duration::from_secs(3_600);
    let mut server = start(Limits {
        shutdown_grace: hours,
        first_byte_timeout: hours,
        idle_timeout: hours,
        ..patient()
    });
    let mut idle = Client::connect(server.address);
    assert_eq!(idle.get("/").status, 200);
    let mut silent = Client::connect(server.address);
    server.stop();
    assert!(idle.closes_silently());
    assert!(silent.closes_silently());
}

#[test]
fn queued_connections_are_answered() {
    let shutdown = CancellationToken::new();
    let server = server(2, patient(), &shutdown);
    let address = server.listener.local_addr();
    let mut clients = Vec::from_iter((0..200).map(|_| Client::connect(address)));
    for client in &mut clients {
        client.send("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    }
    // The shutdown begins before the first of them was accepted.
    shutdown.cancel();
    let handle = server.serve(hello::core).expect("loopback can be served");
    for client in &mut clients {
        let reply = client.reply();
        assert_eq!(reply.status, 200);
        assert!(reply.has("connection: close"));
    }
    join(handle);
}

#[test]
fn stuck_clients_are_cut_off_when_the_grace_is_over() {
    let mut server = start(Limits {
        shutdown_grace: Duration::from_millis(100),
        ..patient()
    });
    let mut never_answered = Client::connect(server.address);
    never_answered.send(HELD);
    wait_for_held(&server, 1);
    let mut never_reads = Client::connect(server.address);
    never_reads.send("GET /endless HTTP/1.1\r\nHost: test\r\n\r\n");
    never_reads.until_head_ends();
    server.stop();
    assert!(never_answered.closes_silently());
}

#[test]
fn port_is_free_again_afterwards() {
    let mut server = start(patient());
    let mut client = Client::connect(server.address);
    assert_eq!(client.get("/").status, 200);
    server.stop();
    Listener::bind(server.address, BACKLOG_DEFAULT).expect("SO_REUSEADDR");
}

#[test]
fn start_that_fails_leaves_no_thread_and_no_socket() {
    let shutdown = CancellationToken::new();
    let server = server(2, patient(), &shutdown);
    let address = server.listener.local_addr();
    let started = server.serve(|core| {
        assert_eq!(core, 0, "the second core fails on purpose");
        hello::core(core)
    });
    assert!(matches!(started, Err(Error::Panicked { thread }) if thread == "listener-core-1"));
    assert!(!shutdown.is_cancelled(), "the caller's token is the caller's");
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn cut_off_ends_at_once() {
    let mut server = start(Limits {
        shutdown_grace: Duration::from_secs(3_600),
        ..patient()
    });
    let mut client = Client::connect(server.address);
    client.send(HELD);
    wait_for_held(&server, 1);
    server.shutdown.cancel();
    wait_until(|| TcpStream::connect(server.address).is_err());
    server.handle().cut_off().cancel();
    server.join();
    assert!(client.closes_silently());
}
