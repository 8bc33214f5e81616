//! The relay before a server that echoes.

use super::*;

/// A server that answers each byte with the same byte, one connection after the other.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let mut byte = [0];
            while client.read_exact(&mut byte).is_ok() && client.write_all(&byte).is_ok() {}
        }
    });
    address
}

#[test]
fn every_answer_is_late_by_the_same_time_also_where_many_are_on_their_way() {
    const DELAY: Duration = Duration::from_millis(20);
    const ANSWERS: usize = 50;
    let relay = Relay::start(echo(), DELAY).unwrap();
    let mut client = TcpStream::connect(relay.address).unwrap();
    let begun = Instant::now();
    client.write_all(&[7; ANSWERS]).unwrap();
    let mut answers = [0; ANSWERS];
    client.read_exact(&mut answers[..1]).unwrap();
    assert!(DELAY <= begun.elapsed(), "{:?}", begun.elapsed());
    client.read_exact(&mut answers[1..]).unwrap();
    assert_eq!(answers, [7; ANSWERS]);
    // One behind the other they would take as many delays.
    assert!(begun.elapsed() < DELAY * ANSWERS as u32 / 2, "{:?}", begun.elapsed());
}

#[test]
fn an_address_keeps_its_login_and_its_database() {
    let server = echo();
    let relay = Relay::to_store(&format!("redis://u:p@ss@{server}/3"), Duration::ZERO).unwrap();
    assert_eq!(relay.url(), format!("redis://u:p@ss@{}/3", relay.address));
    for other in [
        "rediss://127.0.0.1:1",
        "redis-cluster://127.0.0.1:1",
        "embedded",
        "redis://",
    ] {
        assert!(
            matches!(Relay::to_store(other, Duration::ZERO), Err(Error::Usage(_))),
            "{other}"
        );
    }
}

#[test]
fn connections_end_with_the_relay() {
    let relay = Relay::start(echo(), Duration::from_millis(1)).unwrap();
    let mut client = TcpStream::connect(relay.address).unwrap();
    client.write_all(b"a").unwrap();
    client.read_exact(&mut [0]).unwrap();
    drop(relay);
    assert_eq!(client.read(&mut [0]).unwrap_or(0), 0);
}
