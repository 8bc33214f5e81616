//! Many processes while parts of them die, hang or lose their network: what a buyer was told holds, nothing is sold twice, nothing is lost.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use seckill_testkit::{MariaDb, Network, Postgres, Proxy, Server};
use serde_json::{Value, json};

use crate::crash::History;
use crate::shop::{API, SCHEDULER, Shop, WORKER};

pub(crate) const STOCK: u64 = 600;
const BUYERS_AT_ONCE: usize = 6;
/// Answers that buyers have to hear before and after each accident: so many that it comes in the middle of a rush.
const ANSWERS_APART: u64 = 25;

/// Where the roles are in the shop.
const APIS: usize = 2;
const FIRST_WORKER: usize = APIS;

/// Everything that the store and the database of a shop are reached by.
pub(crate) struct Stage {
    pub(crate) shop: Mutex<Shop>,
    publics: Vec<SocketAddr>,
    to_store: Proxy,
    to_database: Proxy,
    pub(crate) activity: u64,
    pub(crate) history: Mutex<History>,
    answers: AtomicU64,
}

/// Others hear that it is over when this is dropped, also by a test that fails.
pub(crate) struct Ends<'a>(pub(crate) &'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn behind(url: &str, port: u16, proxy: &Proxy) -> String {
    let through = url.replace(&format!(":{port}"), &format!(":{}", proxy.address.port()));
    assert_ne!(through, url, "the address has the port");
    through
}

impl Stage {
    /// A sale that is open, on processes that reach everything through proxies.
    pub(crate) fn new(database_url: &str, database_port: u16) -> Self {
        Self::selling(&json!({}), database_url, database_port)
    }

    /// The same of a sale that differs from the usual one in this.
    pub(crate) fn selling(changes: &Value, database_url: &str, database_port: u16) -> Self {
        let to_database = Proxy::to(SocketAddr::from(([127, 0, 0, 1], database_port)));
        let shop = Shop::new(behind(database_url, database_port, &to_database));
        let to_store = Proxy::to(shop.redis.address());
        let store = format!("redis://{}", to_store.address);
        let shop = shop
            .reaching_the_store_by(store)
            .with(&[API, API, WORKER, WORKER, SCHEDULER]);
        let activity = shop.nodes[0].sale(STOCK, changes);
        shop.nodes[1].knows(activity);
        Self {
            publics: shop.nodes[..APIS].iter().map(|node| node.public).collect(),
            shop: Mutex::new(shop),
            to_store,
            to_database,
            activity,
            history: Mutex::default(),
            answers: AtomicU64::new(0),
        }
    }

    /// Waits until buyers have heard some more answers.
    fn some_answers(&self) {
        let wanted = self.answers.load(Ordering::SeqCst) + ANSWERS_APART;
        while self.answers.load(Ordering::SeqCst) < wanted {
            thread::yield_now();
        }
    }

    /// A process dies and comes back.
    fn dies(&self, node: usize) {
        let mut shop = self.shop.lock().expect("no panic");
        shop.nodes[node].kill();
        shop.nodes[node].start_again();
    }

    /// Buyers rush in, each with a key of his own, while the accidents happen one after another.
    pub(crate) fn storm(&self, accidents: &[&dyn Fn(&Self)]) {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for client in 0..BUYERS_AT_ONCE {
                let over = &over;
                scope.spawn(move || {
                    for number in 0.. {
                        if over.load(Ordering::SeqCst) {
                            break;
                        }
                        let user = format!("u{client}-{number}");
                        while !self.buy(client, &user) && !over.load(Ordering::SeqCst) {}
                    }
                });
            }
            let _ends = Ends(&over);
            for accident in accidents {
                self.some_answers();
                accident(self);
            }
            self.some_answers();
        });
    }

    /// False where he is to ask again.
    fn buy(&self, client: usize, user: &str) -> bool {
        let answer = Server::buy_at(self.publics[client % APIS], self.activity, user, user);
        let mut history = self.history.lock().expect("no panic");
        let asks_again = answer.as_ref().is_ok_and(|answer| answer.status == 503);
        match answer {
            Ok(answer) if answer.status == 202 => {
                let ticket = answer.data()["ticket"].as_str().expect("a ticket").to_owned();
                history.tickets.insert(user.to_owned(), ticket);
            }
            Ok(answer) if answer.status == 410 => {}
            Ok(answer) if answer.status == 503 => _ = history.unanswered.insert(user.to_owned()),
            Ok(answer) => panic!("{user}: {answer:?}"),
            Err(_) => _ = history.unanswered.insert(user.to_owned()),
        }
        drop(history);
        self.answers.fetch_add(1, Ordering::SeqCst);
        !asks_again
    }
}

/// An API and both workers are killed; replies of the store and of the database's commits are lost; the database is gone for a while, then
/// the store; the store forgets its scripts, and stands still.
fn survives_accidents(stage: &Stage) {
    stage.storm(&[
        &|stage| stage.dies(0),
        &|stage| stage.dies(FIRST_WORKER),
        &|stage| stage.dies(FIRST_WORKER + 1),
        &|stage| stage.to_store.eat_reply_to(b"EVALSHA", 3),
        &|stage| stage.to_database.eat_reply_to(b"COMMIT", 1),
        &|stage| cut(stage, &stage.to_database),
        &|stage| cut(stage, &stage.to_store),
        &|stage| tell(stage, &["SCRIPT", "FLUSH"]),
        &|stage| tell(stage, &["CLIENT", "PAUSE", "1500", "ALL"]),
    ]);
    stage.check();
}

/// Nothing goes through for a while, and open connections break.
fn cut(stage: &Stage, proxy: &Proxy) {
    proxy.set(Network::Reset);
    stage.some_answers();
    proxy.set(Network::Fine);
}

fn tell(stage: &Stage, words: &[&str]) {
    let answer = stage
        .shop
        .lock()
        .expect("no panic")
        .redis
        .command(words)
        .expect("the store answers");
    assert!(answer.starts_with("+OK"), "{answer}");
}

#[test]
fn a_sale_on_redis_and_postgresql_outlives_what_dies_around_it() {
    let database = Postgres::fresh();
    survives_accidents(&Stage::new(&database.url(), database.port()));
}

#[test]
fn a_sale_on_redis_and_mariadb_outlives_what_dies_around_it() {
    let database = MariaDb::fresh();
    survives_accidents(&Stage::new(&database.url(), database.port()));
}

/// The store starts again with everything it had, then loses everything: the sale heals by itself each time, from what store, ledger and
/// nodes know.
#[test]
fn a_sale_heals_by_itself_after_its_redis_was_killed_and_after_it_was_emptied() {
    let database = Postgres::fresh();
    let stage = Stage::new(&database.url(), database.port());
    stage.storm(&[
        &|stage| {
            let mut shop = stage.shop.lock().expect("no panic");
            shop.redis.kill();
            shop.redis.start_again();
        },
        &|stage| stage.shop.lock().expect("no panic").redis.flush_all(),
    ]);
    stage.check();
}
