//! What a start finds and makes: a database that is locked, folders and files of its own or of somebody else, settings it can't serve with.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rusqlite::Connection;
use seckill_testkit::Server;
use serde_json::json;
use tempfile::TempDir;

use crate::program;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_database_that_is_locked_at_the_start_is_waited_for_and_the_log_says_so() {
    let mut server = Server::start(&program());
    server.terminate();
    let other = Connection::open(server.data().join("seckill.db")).expect("the database");
    other.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    server.spawn();
    server.until_logged("locked by another process; waiting for it, 30 s at most");
    other.execute_batch("ROLLBACK").expect("free again");
    server.until_ready();
    assert_eq!(server.terminate().code(), Some(0), "{}", server.log());
}

/// Everything below `folder` that others than its owner may do something with.
fn open_to_others(folder: &Path) -> Vec<String> {
    let mode = |path: &Path| fs::metadata(path).expect("is there").permissions().mode() & 0o777;
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            if mode(&path) & 0o077 != 0 {
                found.push(format!("{} {:o}", path.display(), mode(&path)));
            }
        }
        if mode(&folder) != 0o700 {
            found.push(format!("{} {:o}", folder.display(), mode(&folder)));
        }
    }
    found
}

#[test]
fn what_a_server_makes_is_for_its_user_alone() {
    let server = Server::start(&program());
    let activity = server.sale(3, &json!({}));
    assert_eq!(server.buy(activity, "a", "k").expect("answers").status, 202);
    let _ = server.settled(activity);
    assert_eq!(open_to_others(&server.data()), Vec::<String>::new());
}

#[test]
fn what_an_operator_made_keeps_its_permissions() {
    let mut server = Server::start(&program());
    server.terminate();
    let (data, database) = (server.data(), server.data().join("seckill.db"));
    fs::set_permissions(&data, Permissions::from_mode(0o750)).expect("ours");
    fs::set_permissions(&database, Permissions::from_mode(0o640)).expect("ours");
    server.start_again();
    let mode = |path: &Path| fs::metadata(path).expect("is there").permissions().mode() & 0o777;
    assert_eq!((mode(&data), mode(&database)), (0o750, 0o640));
}

#[test]
fn serve_and_config_check_refuse_the_same_settings_in_the_same_words() {
    let folder = TempDir::new().expect("a folder");
    for (name, value, says) in [
        (
            "SECKILL_STORE__URL",
            "redis://:secret@h:port/0",
            "store.url: redis://***@h:port/0",
        ),
        (
            "SECKILL_STORE__URL",
            "redis-sentinel://:secret@h1,h2",
            "store.url: redis-sentinel://***@h1,h2",
        ),
        (
            "SECKILL_STORE__URL",
            "redis-cluster://:secret@h1,h2/1",
            "store.url: redis-cluster://***@h1,h2/1",
        ),
        (
            "SECKILL_STORE__URL",
            "rediss://:secret@h:port/0",
            "store.url: rediss://***@h:port/0",
        ),
        (
            "SECKILL_DATABASE__URL",
            "mysql://u:secret@h:port/db",
            "database.url: mysql://***@h:port/db is no address of a database server",
        ),
        (
            "SECKILL_DATABASE__URL",
            "postgres://h:1:2/db",
            "database.url: postgres://h:1:2/db is no address of a database server",
        ),
        ("SECKILL_LOG__LEVEL", "seckill=loud", "log.level"),
        ("SECKILL_PAYMENTS__WEBHOOK_SECRET", "whsec_", "payments.webhook_secret"),
        ("SECKILL_AUTH__JWT_SECRET", "", "auth.jwt_secret"),
    ] {
        let run = |arguments: &[&str]| {
            let output = program()
                .command(folder.path(), arguments)
                .env(name, value)
                .output()
                .expect("starts");
            assert_eq!(
                output.status.code(),
                Some(2),
                "{arguments:?} {value}: {}",
                text(&output.stderr)
            );
            text(&output.stderr)
        };
        let (serve, check) = (run(&["serve"]), run(&["config", "check"]));
        let said = serve.trim_end().strip_prefix("seckill: ").expect("one line").to_owned();
        assert!(said.contains(says), "{said}");
        assert!(
            check.contains(&format!("error: {said}\n")),
            "{check} does not say: {said}"
        );
    }
    assert!(
        fs::read_dir(folder.path()).expect("a folder").next().is_none(),
        "nothing was made"
    );
}

#[test]
fn recover_with_nothing_to_do_says_so() {
    let mut server = Server::start(&program());
    let activity = server.sale(3, &json!({}));
    server.terminate();
    let data = server.data().to_string_lossy().into_owned();
    let id = activity.to_string();
    for arguments in [vec!["recover"], vec!["recover", "--yes"], vec!["recover", &id]] {
        let arguments: Vec<_> = arguments.into_iter().chain(["--data-dir", &data]).collect();
        let output = program().run(server.folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(text(&output.stdout).contains("nothing to recover"), "{output:?}");
        assert!(!text(&output.stderr).contains("--yes"), "{output:?}");
    }
}
