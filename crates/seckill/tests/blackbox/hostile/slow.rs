//! B-36: clients that are slow on purpose. Honest buyers go on meanwhile.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use seckill_testkit::Server;
use serde_json::json;

use super::house::metric;
use super::stage::all_buy;
use crate::program;

/// Longest wait for whatever must come.
const PATIENCE: Duration = Duration::from_secs(60);
/// Connections of one kind of attack at a time.
const SLOW: usize = 150;
/// How often a slow client sends a byte.
const TRICKLE: Duration = Duration::from_millis(20);

/// How a client is slow.
pub(crate) struct Slow {
    name: &'static str,
    /// What it sends at once.
    begin: Vec<u8>,
    /// What it sends again and again.
    trickle: &'static [u8],
    reads: bool,
    /// How that begins what it hears in the end; none: nothing.
    hears: Option<&'static str>,
}

pub(crate) fn kinds(server: &Server, activity: u64) -> [Slow; 5] {
    let bearer = format!("Authorization: Bearer {}", server.token("slow"));
    let buy = format!(
        "POST /api/seckill/{activity} HTTP/1.1\r\nHost: test\r\n{bearer}\r\nContent-Type: application/json\r\n"
    );
    let slow = |name, begin: Vec<u8>, trickle, hears| Slow {
        name,
        begin,
        trickle,
        reads: true,
        hears,
    };
    let page = b"GET /openapi.json HTTP/1.1\r\nHost: test\r\n\r\n".repeat(200);
    [
        slow("no byte", Vec::new(), b"", None),
        slow(
            "a trickled head",
            b"GET /api/time HTTP/1.1\r\nX: ".to_vec(),
            b"a",
            Some("HTTP/1.1 408"),
        ),
        slow(
            "a trickled body",
            format!("{buy}Content-Length: 4000\r\n\r\n").into(),
            b" ",
            Some("HTTP/1.1 408"),
        ),
        slow(
            "trickled chunks",
            format!("{buy}Transfer-Encoding: chunked\r\n\r\n").into(),
            b"1\r\n \r\n",
            Some("HTTP/1.1 408"),
        ),
        Slow {
            reads: false,
            ..slow("never reads", page, b"", None)
        },
    ]
}

/// A slow client; none once the server has ended it.
struct Client {
    stream: Option<TcpStream>,
    left: Vec<u8>,
    heard: Vec<u8>,
}

impl Slow {
    /// The same, whatever it hears.
    pub(crate) fn hearing_anything(self) -> Self {
        Self {
            hears: Some(""),
            ..self
        }
    }

    /// Opens connections, says so, tends them until the server has ended each, and begins again until it is told to stop. What the first ones
    /// have heard that they should not.
    fn attack(&self, address: SocketAddr, opened: &Barrier, stop: &AtomicBool) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut is_first = true;
        while is_first || !stop.load(Ordering::Relaxed) {
            let clients: Vec<_> = (0..SLOW).filter_map(|_| self.open(address)).collect();
            if is_first {
                assert_eq!(clients.len(), SLOW);
                opened.wait();
            }
            is_first = false;
            wrong.extend(self.tend(clients));
        }
        wrong
    }

    fn open(&self, address: SocketAddr) -> Option<Client> {
        let stream = TcpStream::connect(address).ok()?;
        stream.set_nonblocking(true).ok()?;
        let mut client = Client {
            stream: Some(stream),
            left: self.begin.clone(),
            heard: Vec::new(),
        };
        // At once: while it waits for the others, the time for its first byte runs.
        client.turn(b"", self.reads);
        Some(client)
    }

    fn tend(&self, mut clients: Vec<Client>) -> Vec<String> {
        let end = Instant::now() + PATIENCE;
        while clients.iter().any(|client| client.stream.is_some()) {
            assert!(Instant::now() < end, "{}: the server lets them", self.name);
            clients
                .iter_mut()
                .for_each(|client| client.turn(self.trickle, self.reads));
            thread::sleep(TRICKLE);
        }
        let fine = |heard: &[u8]| match self.hears {
            Some(begin) => heard.starts_with(begin.as_bytes()),
            None => heard.is_empty(),
        };
        let wrong = clients.iter().filter(|client| self.reads && !fine(&client.heard));
        wrong
            .map(|client| format!("{}: {}", self.name, client.heard.escape_ascii()))
            .collect()
    }
}

impl Client {
    fn turn(&mut self, trickle: &[u8], reads: bool) {
        let Some(stream) = &mut self.stream else { return };
        let mut ended = false;
        if self.left.is_empty() {
            self.left.extend_from_slice(trickle);
        }
        match stream.write(&self.left) {
            Ok(sent) => _ = self.left.drain(..sent),
            Err(error) => ended = error.kind() != ErrorKind::WouldBlock && !reads,
        }
        if reads {
            let mut buffer = [0; 4096];
            match stream.read(&mut buffer) {
                Ok(0) => ended = true,
                Ok(count) => self.heard.extend_from_slice(&buffer[..count]),
                Err(error) => ended = error.kind() != ErrorKind::WouldBlock,
            }
        }
        if ended {
            self.stream = None;
        }
    }
}

/// Attacks in each way at once until `meanwhile` is done; the server must end every client, in the way it should.
pub(crate) fn all_are_cut_off(address: SocketAddr, kinds: &[Slow], meanwhile: impl FnOnce()) {
    let (opened, stop) = (Barrier::new(kinds.len() + 1), AtomicBool::new(false));
    let wrong: Vec<_> = thread::scope(|scope| {
        let (opened, stop) = (&opened, &stop);
        let attacks: Vec<_> = kinds
            .iter()
            .map(|kind| scope.spawn(move || kind.attack(address, opened, stop)))
            .collect();
        opened.wait();
        meanwhile();
        stop.store(true, Ordering::Relaxed);
        attacks
            .into_iter()
            .flat_map(|attack| attack.join().expect("ended"))
            .collect()
    });
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn slow_clients_of_every_kind_are_cut_off_and_honest_ones_buy_meanwhile() {
    // A server without a processor for as long as a first byte may take has not seen the one that came, and closes without a word.
    let settings = [
        ("SECKILL_SERVER__FIRST_BYTE_TIMEOUT", "5s"),
        ("SECKILL_SERVER__HEADER_TIMEOUT", "1s"),
        ("SECKILL_SERVER__BODY_TIMEOUT", "1s"),
        ("SECKILL_SERVER__WRITE_TIMEOUT", "1s"),
    ];
    let server = Server::start_with(&program(), &settings);
    let activity = server.sale(100, &json!({}));
    let kinds = kinds(&server, activity);
    all_are_cut_off(server.public, &kinds, || all_buy(&server, activity, 0..100));
    let books = server.settled(activity);
    assert_eq!(
        (&books["balanced"], &books["accepted"]),
        (&json!(true), &json!(100)),
        "{books}"
    );
    let _let_go = server.until(|| metric(&server, "seckill_connections"), |open| *open < 1.0);
}
