//! Commands for a stopped server: what they say of a folder that has no data, or that a server holds.

use seckill_testkit::{Postgres, Server};
use serde_json::json;
use tempfile::TempDir;

use crate::disaster::{run, said, ticket};
use crate::program;
use crate::shop::{API, Shop};

#[test]
fn a_folder_without_data_is_named_and_nothing_is_made_there() {
    let folder = TempDir::new().expect("a folder");
    let elsewhere = folder.path().join("seckill-data");
    for arguments in [
        &["recover"][..],
        &["recover", "--yes"],
        &["journal", "verify"],
        &["journal", "repair"],
        &["journal", "erase-buyer", "1", "a"],
    ] {
        let output = program().run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(said(&output).contains("no data"), "{output:?}");
        assert!(!elsewhere.exists(), "{arguments:?}");
    }
}

#[test]
fn commands_for_a_stopped_server_say_so_and_a_buyer_is_erased_only_with_a_yes() {
    let mut server = Server::start(&program());
    let activity = server.sale(3, &json!({}));
    ticket(&server, activity, "alice");
    let _ = server.settled(activity);
    for arguments in [&["recover"][..], &["migrate"], &["journal", "verify"]] {
        let output = run(&server, arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(said(&output).contains("stop it first"), "{output:?}");
    }
    server.terminate();
    let erase = ["journal", "erase-buyer", &activity.to_string(), "alice"];
    let dry = run(&server, &erase);
    assert_eq!(dry.status.code(), Some(0), "{dry:?}");
    assert!(said(&dry).contains("--yes"), "{dry:?}");
    server.start_again();
    assert_eq!(server.settled(activity)["balanced"], true);
    server.terminate();
    let done = run(&server, &[&erase[..], &["--yes"]].concat());
    assert!(said(&done).contains("erased"), "{done:?}");
}

#[test]
fn recovery_of_a_shared_store_is_refused_while_processes_use_it() {
    let database = Postgres::fresh();
    let mut shop = Shop::new(database.url()).with(&[API]);
    let folder = TempDir::new().expect("a folder");
    let recover = || {
        let mut command = program().command(folder.path(), &["recover", "--data-dir", "data"]);
        command.env("SECKILL_STORE__URL", shop.redis.url());
        command.env("SECKILL_DATABASE__URL", database.url());
        let output = command.output().expect("starts");
        (output.status.code(), said(&output))
    };
    let (code, said) = recover();
    assert!(
        code == Some(1) && said.contains("processes use this store"),
        "{code:?} {said}"
    );
    let ended = shop.nodes[0].terminate();
    assert!(ended.success(), "{ended:?}");
    let (code, said) = recover();
    assert_eq!(code, Some(0), "{said}");
}
