//! Each fault before a server that answers every line.

use std::io::{BufRead, BufReader, ErrorKind};
use std::sync::mpsc::{Receiver, sync_channel};

use std::io::{self, Write};
use std::net::Shutdown;

use super::*;

const SOON: Duration = Duration::from_millis(50);

/// A server that answers each line with itself; the receiver gets each line that arrived, and "end" at the end of a connection.
fn server() -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (arrived, arrivals) = sync_channel(100);
    thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, arrived) = (client.expect("a client"), arrived.clone());
            thread::spawn(move || {
                let lines = BufReader::new(client.try_clone().expect("a clone")).lines();
                for line in lines.map_while(Result::ok) {
                    let _ = arrived.send(line.clone());
                    if client.write_all(format!("{line}\n").as_bytes()).is_err() {
                        return;
                    }
                }
                let _ = arrived.send("end".to_owned());
                let _ = client.write_all(b"bye\n");
            });
        }
    });
    (address, arrivals)
}

struct Client {
    stream: TcpStream,
    answers: BufReader<TcpStream>,
}

impl Client {
    fn of(proxy: &Proxy) -> Self {
        let stream = TcpStream::connect(proxy.address).expect("connected");
        let answers = BufReader::new(stream.try_clone().expect("a clone"));
        Self { stream, answers }
    }

    fn send(&mut self, line: &str) -> io::Result<()> {
        self.stream.write_all(format!("{line}\n").as_bytes())
    }

    /// The next line; empty at an end.
    fn hear(&mut self) -> String {
        self.try_hear().expect("no reset")
    }

    fn try_hear(&mut self) -> Result<String, ErrorKind> {
        let mut line = String::new();
        let heard = self.answers.read_line(&mut line);
        heard.map(|_| line.trim_end().to_owned()).map_err(|error| error.kind())
    }
}

#[test]
fn fine_network_passes_everything_and_the_end() {
    let (address, arrivals) = server();
    let proxy = Proxy::to(address);
    let mut client = Client::of(&proxy);
    client.send("a").expect("sent");
    assert_eq!(client.hear(), "a");
    client.stream.shutdown(Shutdown::Write).expect("closed");
    assert_eq!(client.hear(), "bye");
    assert_eq!(arrivals.iter().take(2).collect::<Vec<_>>(), ["a", "end"]);
}

#[test]
fn slow_network_delays_in_both_directions() {
    let (address, _arrivals) = server();
    let proxy = Proxy::to(address);
    let mut client = Client::of(&proxy);
    proxy.set(Network::Slow(SOON));
    let asked = std::time::Instant::now();
    client.send("a").expect("sent");
    assert_eq!(client.hear(), "a");
    assert!(2 * SOON <= asked.elapsed());
}

#[test]
fn what_falls_into_the_black_hole_arrives_when_it_is_over() {
    let (address, arrivals) = server();
    let proxy = Proxy::to(address);
    let mut client = Client::of(&proxy);
    client.send("a").expect("sent");
    assert_eq!((client.hear(), arrivals.recv()), ("a".to_owned(), Ok("a".to_owned())));
    proxy.set(Network::BlackHole);
    client.send("b").expect("nobody is told");
    assert!(arrivals.recv_timeout(SOON).is_err());
    proxy.set(Network::Fine);
    assert_eq!(client.hear(), "b");
}

#[test]
fn reset_ends_open_connections_and_new_ones_until_it_is_over() {
    let (address, _arrivals) = server();
    let proxy = Proxy::to(address);
    let mut open = Client::of(&proxy);
    open.send("a").expect("sent");
    assert_eq!(open.hear(), "a");
    proxy.set(Network::Reset);
    assert_eq!(open.try_hear(), Err(ErrorKind::ConnectionReset));
    assert_eq!(Client::of(&proxy).try_hear(), Err(ErrorKind::ConnectionReset));
    proxy.set(Network::Fine);
    let mut later = Client::of(&proxy);
    later.send("b").expect("sent");
    assert_eq!(later.hear(), "b");
}

#[test]
fn a_connection_that_was_reset_passes_nothing_more_however_soon_the_network_is_fine_again() {
    let (address, arrivals) = server();
    let proxy = Proxy::to(address);
    let mut client = Client::of(&proxy);
    client.send("a").expect("sent");
    assert_eq!(client.hear(), "a");
    proxy.set(Network::BlackHole);
    client.send("b").expect("nobody is told");
    proxy.set(Network::Reset);
    proxy.set(Network::Fine);
    assert_eq!(client.try_hear(), Err(ErrorKind::ConnectionReset));
    assert_eq!(arrivals.iter().take(2).collect::<Vec<_>>(), ["a", "end"]);
}

#[test]
fn half_closed_connection_still_answers() {
    let (address, arrivals) = server();
    let proxy = Proxy::to(address);
    let mut client = Client::of(&proxy);
    client.send("a").expect("sent");
    assert_eq!(client.hear(), "a");
    proxy.set(Network::HalfClosed);
    client.send("b").expect("sent");
    assert_eq!(client.hear(), "bye");
    assert_eq!(arrivals.iter().take(2).collect::<Vec<_>>(), ["a", "end"]);
}

#[test]
fn the_answer_to_the_nth_request_with_a_word_is_lost_after_it_was_done() {
    let (address, arrivals) = server();
    let proxy = Proxy::to(address);
    let mut client = Client::of(&proxy);
    proxy.eat_reply_to(b"COMMIT", 2);
    for line in ["COMMIT 1", "SELECT"] {
        client.send(line).expect("sent");
        assert_eq!(client.hear(), line);
    }
    client.send("COMMIT 2").expect("sent");
    assert_eq!(client.try_hear(), Err(ErrorKind::ConnectionReset));
    assert_eq!(
        arrivals.iter().take(3).last().as_deref(),
        Some("COMMIT 2"),
        "the server did it"
    );
    assert_eq!(proxy.replies_eaten(), 1);
    let mut later = Client::of(&proxy);
    later.send("COMMIT 3").expect("sent");
    assert_eq!(later.hear(), "COMMIT 3", "once");
}
