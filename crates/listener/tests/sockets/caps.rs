//! The caps on connections, counted and given back.

use seckill_listener::Limits;

use crate::client::{Client, wait_until};
use crate::start::{patient, start};

#[test]
fn connection_above_the_cap_is_closed_at_once() {
    let server = start(Limits {
        connections_max: 2,
        ..patient()
    });
    let mut first = Client::connect(server.address);
    let mut second = Client::connect(server.address);
    assert_eq!(first.get("/").status, 200);
    assert_eq!(second.get("/").status, 200);
    assert!(Client::connect(server.address).closes_silently());
    assert_eq!(server.handle().counts().refused_full_total(), 1);

    drop(first);
    wait_until(|| server.handle().counts().open() == 1);
    assert_eq!(Client::connect(server.address).get("/").status, 200);
    assert_eq!(server.handle().counts().accepted_total(), 4);
}

#[test]
fn one_address_can_t_take_every_connection() {
    let server = start(Limits {
        connections_per_ip: 1,
        ..patient()
    });
    let mut first = Client::connect(server.address);
    assert_eq!(first.get("/").status, 200);
    assert!(Client::connect(server.address).closes_silently());
    assert_eq!(server.handle().counts().refused_per_ip_total(), 1);
    assert_eq!(first.get("/").status, 200);
}

#[test]
fn cap_in_force_can_be_read() {
    let server = start(Limits {
        connections_max: usize::MAX,
        ..patient()
    });
    assert!(server.handle().connections_max() < usize::MAX);
}
