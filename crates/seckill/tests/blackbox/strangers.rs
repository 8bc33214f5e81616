//! Processes on one store that do not belong together: other databases, other secrets, a copied data folder.

use std::fs;
use std::path::Path;

use seckill_testkit::{Postgres, Redis, Server, free_address};
use serde_json::json;

use crate::check::until;
use crate::program;
use crate::shop::{API, SCHEDULER, Shop, WORKER};
use crate::unsafe_servers::assert_refused;

pub(crate) const ANOTHER_DATABASE: &str = "uses this store with another database";
const ANOTHER_SECRET: &str = "another-secret-of-the-shop-0123456789abcdef-0123456789";

pub(crate) fn settings<'a>(redis: &'a str, database: &'a str) -> [(&'a str, &'a str); 3] {
    [
        ("SECKILL_STORE__URL", redis),
        ("SECKILL_DATABASE__URL", database),
        ("SECKILL_DATABASE__MIGRATE", "auto"),
    ]
}

#[test]
fn a_second_database_on_a_store_without_a_sale_is_refused_while_the_first_is_in_use() {
    let (redis, one, two) = (Redis::start(), Postgres::fresh(), Postgres::fresh());
    let (first, second) = (one.url(), two.url());
    let url = redis.url();
    let node = Server::start_with(&program(), &settings(&url, &first));
    assert_refused(&settings(&url, &second), 1, ANOTHER_DATABASE);
    // It got no name by that, and is as new as before.
    assert_refused(&settings(&url, &second), 1, ANOTHER_DATABASE);
    until(&node, None, "databases", "passed", "");
    let beside = Server::start_with(&program(), &settings(&url, &first));
    until(&beside, None, "nodes", "passed", "2 alive");
}

#[test]
fn a_store_without_a_sale_goes_over_to_a_new_database_and_the_old_one_is_refused_from_then_on() {
    let (redis, one, two) = (Redis::start(), Postgres::fresh(), Postgres::fresh());
    let (first, second) = (one.url(), two.url());
    let url = redis.url();
    let mut old = Server::start_with(&program(), &settings(&url, &first));
    assert!(old.terminate().success());
    let mut new = Server::start_with(&program(), &settings(&url, &second));
    assert_refused(&settings(&url, &first), 1, ANOTHER_DATABASE);
    assert!(new.terminate().success());
    assert_refused(&settings(&url, &first), 1, "the database belongs to another store");
    new.start_again();
    let id = new.sale(1, &json!({}));
    assert_eq!(new.buy(id, "a", "k").expect("answers").status, 202);
}

#[test]
fn a_database_with_another_name_on_a_store_that_was_emptied_is_refused_beside_living_processes() {
    let (redis, other, one, two) = (Redis::start(), Redis::start(), Postgres::fresh(), Postgres::fresh());
    let (first, second) = (one.url(), two.url());
    let (url, other_url) = (redis.url(), other.url());
    let node = Server::start_with(&program(), &settings(&url, &first));
    let mut elsewhere = Server::start_with(&program(), &settings(&other_url, &second));
    assert!(elsewhere.terminate().success());
    redis.flush_all();
    until(&node, None, "nodes", "passed", "1 alive");
    assert_refused(&settings(&url, &second), 1, ANOTHER_DATABASE);
}

#[test]
fn a_process_with_another_secret_of_buyers_tokens_is_told_and_turns_the_line_of_the_keys_yellow() {
    let database = Postgres::fresh();
    let shop = Shop::new(database.url()).with(&[API, SCHEDULER]);
    until(&shop.nodes[0], None, "keys", "passed", "");
    let shop = shop.setting("SECKILL_AUTH__JWT_SECRET", ANOTHER_SECRET);
    // Who does not answer buyers has no use for it.
    let shop = shop.with(&[WORKER]);
    until(&shop.nodes[0], None, "nodes", "passed", "3 alive");
    until(&shop.nodes[0], None, "keys", "passed", "");
    let mut shop = shop.with(&[API]);
    let (first, second) = (&shop.nodes[0], &shop.nodes[3]);
    assert_eq!(
        second.log().matches("with another key than this one").count(),
        1,
        "{}",
        second.log()
    );
    assert!(!shop.nodes[2].log().contains("another key"), "{}", shop.nodes[2].log());
    for node in [first, second] {
        until(node, None, "keys", "warning", "different ones");
    }
    let kept = shop.redis.command(&["HVALS", "{seckill}:members"]).expect("answers");
    assert!(!kept.contains(ANOTHER_SECRET) && kept.contains("user_keys"), "{kept}");
    shop.nodes[3].terminate();
    until(&shop.nodes[0], None, "keys", "passed", "");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        if entry.file_type().expect("a type").is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
        }
    }
}

#[test]
fn a_copied_data_folder_makes_no_second_process_of_the_same_name() {
    let (redis, database) = (Redis::start(), Postgres::fresh());
    let (url, orders) = (redis.url(), database.url());
    let mut first = Server::start_with(&program(), &settings(&url, &orders));
    let mut copied = Server::start_with(&program(), &settings(&redis.url(), &orders));
    assert!(copied.terminate().success());
    let own = fs::read(copied.data().join("node-id")).expect("a name");
    copy(&first.data(), &copied.data());
    copied.spawn();
    assert_eq!(copied.wait_end().code(), Some(1), "{}", copied.log());
    assert!(
        copied.log().contains("is a copy of its data folder"),
        "{}",
        copied.log()
    );
    // The first never noticed, and has its name back at once after a crash.
    assert!(
        !first.log().contains("another process with the name"),
        "{}",
        first.log()
    );
    first.kill();
    first.start_again();
    // With a name of its own the copy is another process.
    fs::write(copied.data().join("node-id"), own).expect("written");
    copied.start_again();
    until(&first, None, "nodes", "passed", "2 alive");
    // A folder that was moved is the same process, once the other is gone.
    copied.terminate();
    first.kill();
    copy(&first.data(), &copied.data());
    copied.start_again();
    until(&copied, None, "nodes", "passed", "1 alive");
}

#[test]
fn a_process_that_stood_still_while_a_copy_took_its_name_says_so() {
    let (redis, database) = (Redis::start(), Postgres::fresh());
    let (url, orders) = (redis.url(), database.url());
    let first = Server::start_with(&program(), &settings(&url, &orders));
    first.pause();
    let [public, admin] = [free_address(), free_address()].map(|address| address.to_string());
    let folder = tempfile::TempDir::new().expect("a folder");
    copy(&first.data(), folder.path());
    let data = folder.path().to_string_lossy().into_owned();
    let arguments = [
        "serve",
        "--listen",
        &public,
        "--admin-listen",
        &admin,
        "--data-dir",
        &data,
    ];
    let mut command = program().command(folder.path(), &arguments);
    let log = fs::File::create(folder.path().join("log")).expect("a file");
    let child = command
        .envs(settings(&url, &orders))
        .stderr(log)
        .spawn()
        .expect("starts");
    let _child = Ends(child);
    let said = || fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    let _ready = first.until(said, |log| log.contains("ready"));
    first.resume();
    first.until_logged("another process with the name of this one uses the store");
}

struct Ends(std::process::Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
