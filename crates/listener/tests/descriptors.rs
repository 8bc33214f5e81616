//! The listener without descriptors. Alone in its process, whose limit it changes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use seckill_listener::{BACKLOG_DEFAULT, Limits, Listener, Server, bare_error_answers, hello};
use socket2::{Domain, Socket, Type};
use tokio_util::sync::CancellationToken;

const STUCK: Duration = Duration::from_secs(30);
const DIALERS: usize = 20;

fn set_soft_limit(current: Option<u64>) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).expect("below the hard limit");
}

fn ask(client: &mut TcpStream) {
    client
        .write_all(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n")
        .expect("the kernel queues it");
}

fn is_answered(client: &mut TcpStream) -> bool {
    client.set_read_timeout(Some(STUCK)).expect("a valid timeout");
    let mut start = [0; 12];
    client.read_exact(&mut start).is_ok() && start == *b"HTTP/1.1 200"
}

#[test]
fn used_up_descriptors_are_waited_out() {
    let shutdown = CancellationToken::new();
    let listener = Listener::bind("127.0.0.1:0".parse().expect("an address"), BACKLOG_DEFAULT).expect("a free port");
    let address = listener.local_addr();
    let server = Server {
        listener,
        cores: 1,
        limits: Limits::default(),
        error_answers: bare_error_answers(),
        shutdown: shutdown.clone(),
    };
    let handle = server.serve(hello::core).expect("loopback can be served");
    let mut early = TcpStream::connect(address).expect("the listener is up");
    ask(&mut early);
    assert!(is_answered(&mut early));

    // The dialers have their descriptors; the listener gets two more and then none.
    let dialers =
        Vec::from_iter((0..DIALERS).map(|_| Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket")));
    let highest = dialers.iter().map(AsRawFd::as_raw_fd).max().expect("there are dialers");
    set_soft_limit(Some(u64::try_from(highest).expect("not negative") + 3));
    let mut dialers = Vec::from_iter(dialers.into_iter().map(|dialer| {
        dialer.connect(&address.into()).expect("the kernel queues it");
        TcpStream::from(dialer)
    }));
    dialers.iter_mut().for_each(ask);
    let started = Instant::now();
    while handle.counts().accept_errors_total() < 3 {
        assert!(started.elapsed() < STUCK, "accept never failed");
        std::thread::yield_now();
    }
    ask(&mut early);
    assert!(is_answered_again(&mut early), "open connections are served on");

    set_soft_limit(getrlimit(Resource::Nofile).maximum);
    assert!(dialers.iter_mut().all(is_answered), "everybody in the queue is served");
    shutdown.cancel();
    handle.join().expect("no thread panicked");
}

/// The rest of the first answer comes before the second one.
fn is_answered_again(client: &mut TcpStream) -> bool {
    let mut read = Vec::new();
    let mut bytes = [0; 512];
    while !read.windows(12).any(|window| window == b"HTTP/1.1 200") {
        match client.read(&mut bytes) {
            Ok(count) if 0 < count => read.extend_from_slice(&bytes[..count]),
            _ => return false,
        }
    }
    true
}
