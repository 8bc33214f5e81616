//! Commands for a stopped server: what they say of a folder that has no data, or that a server holds.

use seckill_testkit::Server;
use serde_json::json;

use crate::disaster::{run, said, ticket};
use crate::program;

#[test]
fn a_folder_without_data_is_named_and_nothing_is_made_there() {
    let folder = tempfile::TempDir::new().expect("a folder");
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
