//! What `deploy/` ships, process by process: each is started by hand with the very files that the containers mount, on loopback ports.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use seckill_testkit::{Answer, MariaDb, Server, call, free_address};
use serde_json::json;
use tempfile::TempDir;

use crate::program;

/// Longest wait for a process to listen.
const PATIENCE: Duration = Duration::from_secs(30);

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(file(name)).expect("it is shipped")
}

/// A process of somebody else; dropping it ends it, with the processes that it has started.
pub(crate) struct Foreign(Child);

impl Foreign {
    fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().expect("it is installed"))
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        let asked = kill_process(Pid::from_child(&self.0), Signal::TERM);
        if asked.is_err() {
            let _gone = self.0.kill();
        }
        let _ = self.0.wait();
    }
}

fn until_it_listens(address: SocketAddr) {
    let end = Instant::now() + PATIENCE;
    while std::net::TcpStream::connect(address).is_err() {
        assert!(Instant::now() < end, "nothing listens on {address}");
        std::thread::yield_now();
    }
}

fn redis(folder: &Path) -> (Foreign, SocketAddr) {
    let address = free_address();
    let mut command = Command::new("redis-server");
    command
        .arg(file("redis.conf"))
        .args(["--bind", "127.0.0.1", "--dir"])
        .arg(folder);
    command
        .args(["--port", &address.port().to_string()])
        .stdout(Stdio::null());
    let process = Foreign::start(&mut command);
    until_it_listens(address);
    (process, address)
}

/// nginx with the shipped file, whose names of containers become addresses here. `changes` are more words of it and what they become.
pub(crate) fn nginx(folder: &Path, nodes: [SocketAddr; 2], changes: &[(&str, &str)]) -> (Foreign, SocketAddr) {
    let address = free_address();
    let mut conf = text("nginx.conf");
    let (first, second) = (format!("server {} ", nodes[0]), format!("server {} ", nodes[1]));
    let listen = format!("listen {address} ");
    let addresses = [
        ("server api-1:8080 ", first.as_str()),
        ("server api-2:8080 ", &second),
        ("listen 8000 ", &listen),
    ];
    for (words, to) in addresses.iter().chain(changes) {
        assert!(conf.contains(words), "{words}");
        conf = conf.replace(words, to);
    }
    let path = folder.join("nginx.conf");
    fs::write(&path, conf).expect("a file");
    let globals = format!("daemon off; pid {};", folder.join("nginx.pid").display());
    let mut command = Command::new("nginx");
    command.arg("-p").arg(folder).arg("-c").arg(path).args(["-g", &globals]);
    let process = Foreign::start(command.stderr(Stdio::null()));
    until_it_listens(address);
    (process, address)
}

/// The commands that compose gives our own processes, in the order of the file.
fn commands() -> Vec<Vec<String>> {
    let compose = text("compose.yaml");
    let lists = compose.lines().filter_map(|line| line.trim().strip_prefix("command: "));
    let commands = lists.map(|list| serde_json::from_str::<Vec<String>>(list).expect("a list of words"));
    commands.filter(|words| words[0] != "redis-server").collect()
}

fn buy(at: SocketAddr, activity: u64, user: &str) -> Answer {
    Server::buy_at(at, activity, user, "k").expect("answers")
}

#[test]
fn every_process_of_compose_works_with_the_shipped_settings_behind_the_shipped_nginx() {
    let folder = TempDir::new().expect("a folder");
    let (_redis, store) = redis(folder.path());
    let database = MariaDb::fresh();
    let settings = file("seckill.toml");
    let config = settings.to_string_lossy();
    let (store_url, database_url) = (format!("redis://{store}"), database.url());
    let environment = [
        ("SECKILL_STORE__URL", store_url.as_str()),
        ("SECKILL_DATABASE__URL", &database_url),
        ("SECKILL_SERVER__TRUSTED_PROXIES", "127.0.0.0/8"),
    ];
    let commands = commands();
    let [migrate, serving @ ..] = &commands[..] else {
        panic!("{commands:?}")
    };
    assert_eq!(migrate, &["migrate"]);
    let migrated = program()
        .command(folder.path(), &["--config", &config, "migrate", "--data-dir", "data"])
        .envs(environment)
        .output()
        .expect("starts");
    assert!(
        migrated.status.success(),
        "{}",
        String::from_utf8_lossy(&migrated.stderr)
    );
    let nodes: Vec<_> = serving
        .iter()
        .map(|task| {
            let task: Vec<_> = task.iter().map(String::as_str).chain(["--config", &config]).collect();
            Server::start_as(&program(), &task, &environment)
        })
        .collect();
    assert_eq!(nodes.len(), 4, "two that answer, two that write");
    let (_nginx, front) = nginx(folder.path(), [nodes[0].public, nodes[1].public], &[]);
    let activity = nodes[0].sale(3, &json!({}));
    nodes[1].knows(activity);

    let statuses: Vec<_> = (0..5)
        .map(|user| buy(front, activity, &format!("u{user}")).status)
        .collect();
    assert_eq!(statuses, [202, 202, 202, 410, 410]);
    let books = nodes[0].settled(activity);
    assert_eq!(
        (&books["balanced"], &books["orders_live"]),
        (&json!(true), &json!(3)),
        "{books}"
    );
    let page = call(front, "GET", &format!("/api/activities/{activity}"), &[], None).expect("answers");
    assert_eq!(page.status, 200);
    // One address asks more than ten times a second, and more than twenty times at once.
    let rude: Vec<_> = (0..60).map(|_| buy(front, activity, "u9")).collect();
    let limited = rude
        .iter()
        .find(|answer| answer.status == 429)
        .expect("nginx limits an address");
    assert_eq!(limited.code(), 40_003);
}

#[test]
fn the_shipped_settings_of_mariadb_are_ones_that_it_knows() {
    let defaults = format!("--defaults-file={}", file("mariadb.cnf").display());
    let asked = Command::new("mariadbd")
        .args([&defaults, "--help", "--verbose"])
        .output()
        .expect("installed");
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    let value = |name: &str| {
        said.lines()
            .find_map(|line| line.strip_prefix(name)?.split_whitespace().next().map(str::to_owned))
    };
    assert_eq!(value("sync-binlog ").as_deref(), Some("1"));
    assert_eq!(value("innodb-flush-log-at-trx-commit ").as_deref(), Some("1"));
}
