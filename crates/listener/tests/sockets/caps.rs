//! The caps on connections, counted and given back.

use seckill_listener::{Limits, WhenFull};

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

/// Two places whose connections give way.
fn giving_way() -> Limits {
    Limits {
        connections_max: 2,
        when_full: WhenFull::LongestIdleGivesWay,
        ..patient()
    }
}

#[test]
fn a_connection_kept_idle_gives_its_place_to_one_that_comes() {
    let server = start(giving_way());
    let counts = server.handle().counts().clone();
    let mut kept: Vec<_> = (0..2).map(|_| Client::connect(server.address)).collect();
    assert!(kept.iter_mut().all(|client| client.get("/").status == 200));
    for made in 1..=5 {
        let mut newest = Client::connect(server.address);
        assert_eq!(newest.get("/").status, 200);
        assert!(
            kept.remove(0).ends_cleanly(),
            "the one that was idle for the longest time"
        );
        kept.push(newest);
        assert_eq!(counts.gave_way_total(), made);
    }
    wait_until(|| counts.open() == 2);
    assert_eq!(counts.refused_full_total(), 0);
}

#[test]
fn requests_under_way_keep_their_places_and_the_newest_connection_is_closed() {
    let server = start(giving_way());
    let mut served: Vec<_> = (0..2).map(|_| Client::connect(server.address)).collect();
    for client in &mut served {
        client.send("GET /held HTTP/1.1\r\nHost: test\r\n\r\n");
    }
    wait_until(|| server.reached.available_permits() == 2);
    assert!(Client::connect(server.address).closes_silently());
    assert_eq!(server.handle().counts().refused_full_total(), 1);
    server.release.add_permits(2);
    assert!(served.iter_mut().all(|client| client.reply().status == 200));
    assert_eq!(server.handle().counts().gave_way_total(), 0);
}
