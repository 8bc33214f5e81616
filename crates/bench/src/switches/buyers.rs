//! Buyers who come to every node all the time, in an open loop: new ones, and the marked one who comes again and again. One thread.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::commands::Scene;
use super::heard::{Heard, Said, Who};
use super::log::Log;
use crate::bots::farm::{address_of, purchase};
use crate::client::Connection;
use crate::token::{Signer, UserIds};
use crate::{Error, Result};

/// Connections of the new buyers of one node: more than answers are under way at the offered rate.
const CONNECTIONS: usize = 24;
/// Connections of the marked buyer at one node.
const CONNECTIONS_MARKED: usize = 8;
/// How often the marked buyer comes to each node.
const MARKED_EVERY: Duration = Duration::from_millis(10);
/// How long one answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(15);

/// Who comes where and how often.
#[derive(Debug)]
pub(super) struct Crowd {
    /// The nodes' public ports.
    pub(super) nodes: Vec<SocketAddr>,
    /// New buyers who come to all nodes together.
    pub(super) rate_per_s: f64,
    pub(super) signer: Signer,
    pub(super) scene: Scene,
}

/// They come. Dropping it sends them home.
#[derive(Debug)]
pub(super) struct Buyers {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Buyers {
    pub(super) fn start(crowd: Crowd, log: Arc<Log>) -> Result<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Error::io("start a runtime"))?;
        let ends = Arc::clone(&over);
        let thread = std::thread::Builder::new().name("buyers".to_owned());
        let thread = thread.spawn(move || runtime.block_on(come(crowd, log, ends)));
        Ok(Self {
            over,
            thread: Some(thread.map_err(Error::io("start the buyers' thread"))?),
        })
    }

    /// Lets those who are there have their answers, and no more come.
    ///
    /// # Errors
    /// [`Error::Usage`] when their thread has failed.
    pub(super) fn end(mut self) -> Result<()> {
        self.go_home()
    }

    fn go_home(&mut self) -> Result<()> {
        self.over.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map_or(Ok(()), JoinHandle::join);
        ended.map_err(|_| Error::Usage("the buyers' thread has failed".into()))
    }
}

impl Drop for Buyers {
    fn drop(&mut self) {
        let _whatever_they_met = self.go_home();
    }
}

/// What all buyers of one kind at one node share.
struct Stream {
    node: usize,
    who: Who,
    crowd: Arc<Crowd>,
    every: Duration,
    begun: Instant,
    next: AtomicUsize,
    users: Mutex<UserIds>,
    log: Arc<Log>,
    over: Arc<AtomicBool>,
}

async fn come(crowd: Crowd, log: Arc<Log>, over: Arc<AtomicBool>) {
    let (crowd, begun) = (Arc::new(crowd), Instant::now());
    let every = Duration::from_secs_f64(crowd.nodes.len() as f64 / crowd.rate_per_s);
    let mut tasks = Vec::new();
    for node in 0..crowd.nodes.len() {
        for (who, every, connections) in [
            (Who::New, every, CONNECTIONS),
            (Who::Marked, MARKED_EVERY, CONNECTIONS_MARKED),
        ] {
            let stream = Arc::new(Stream {
                node,
                who,
                crowd: Arc::clone(&crowd),
                every,
                begun,
                next: AtomicUsize::new(0),
                users: Mutex::new(UserIds::random()),
                log: Arc::clone(&log),
                over: Arc::clone(&over),
            });
            let one = || tokio::spawn(one_connection(Arc::clone(&stream)));
            tasks.extend(std::iter::repeat_with(one).take(connections));
        }
    }
    for task in tasks {
        task.await.expect("a buyer does not panic");
    }
}

/// Takes the stream's next request until it is over.
async fn one_connection(stream: Arc<Stream>) {
    let mut connection = Connection::new(stream.crowd.nodes[stream.node], ANSWER_LIMIT);
    loop {
        let number = stream.next.fetch_add(1, Ordering::Relaxed);
        let intended = stream.begun + stream.every.mul_f64(number as f64);
        tokio::time::sleep_until(intended.into()).await;
        if stream.over.load(Ordering::Relaxed) {
            return;
        }
        let request = stream.request(number);
        let sent = Instant::now();
        match connection.exchange(request.as_bytes()).await {
            Ok(answer) => stream.log.note(Heard {
                node: stream.node,
                who: stream.who,
                said: Said::of(answer.code, answer.body),
                sent,
                at: Instant::now(),
            }),
            Err(_) => stream.log.note_unanswered(stream.who),
        }
    }
}

impl Stream {
    /// A purchase by the next one.
    fn request(&self, number: usize) -> String {
        let scene = &self.crowd.scene;
        match self.who {
            Who::Marked => {
                let (user, device) = (&scene.marked.user, format!("X-Device-Id: {}\r\n", scene.marked.device));
                self.purchase(scene.other_sale, user, scene.marked.address, &device)
            }
            Who::New => {
                let user = self.users.lock().unwrap_or_else(PoisonError::into_inner).next();
                let user = user.expect("there is always another one");
                let number = number * self.crowd.nodes.len() + self.node;
                self.purchase(scene.sale, &user, address_of(number), "")
            }
        }
    }

    fn purchase(&self, sale: u64, user: &str, address: Ipv4Addr, more: &str) -> String {
        let (host, token) = (self.crowd.nodes[self.node], self.crowd.signer.token(user));
        purchase(host, sale, &token, address, more)
    }
}
