//! Drafts, lists and levels from the command line: who may buy is settled before anybody sees the sale.

use std::fs;

use seckill_testkit::Server;
use serde_json::json;

use crate::activity_command::{CREATE, WINDOW, buys};
use crate::newcomer::{ask, document};
use crate::program;

#[test]
fn a_sale_for_those_on_a_list_is_nobody_elses_at_any_moment() {
    let server = Server::start(&program());
    fs::write(server.folder.path().join("members.txt"), "alice\nbob\n").expect("written");
    fs::write(server.folder.path().join("others.txt"), "carl").expect("written");
    let create = [&CREATE[..], &WINDOW, &["--eligibility", "members.txt"]].concat();
    let (code, stdout, stderr) = ask(&server, &create);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stdout.contains("phase     open") && stdout.contains("buyers    those on its list"),
        "{stdout}"
    );
    let (code, stdout, _) = ask(&server, &["activity", "eligibility", "show", "1"]);
    assert_eq!((code, stdout.trim()), (0, "activity 1: for the 2 users of its list"));
    ask(&server, &["preheat", "1"]);
    assert_eq!([buys(&server, 1, "carl").1, buys(&server, 1, "alice").1], [40300, 0]);
    let (code, stdout, stderr) = ask(
        &server,
        &["activity", "eligibility", "put", "1", "others.txt", "--json"],
    );
    assert_eq!((code, &document(&stdout)["list"]["users"]), (0, &json!(1)), "{stderr}");
    assert_eq!([buys(&server, 1, "carl").1, buys(&server, 1, "bob").1], [0, 40300]);
    let (_, stdout, _) = ask(&server, &["activity", "eligibility", "remove", "1"]);
    assert_eq!(stdout.trim(), "activity 1: for everybody");
    assert_eq!(buys(&server, 1, "dora").1, 0);
}

#[test]
fn a_list_with_a_bad_line_makes_nothing_and_one_that_does_not_fit_leaves_a_draft_that_is_named() {
    let server = Server::start(&program());
    fs::write(server.folder.path().join("bad.txt"), "alice\n\nbob\n").expect("written");
    fs::write(server.folder.path().join("good.txt"), "alice\n").expect("written");
    let with = |file| [&CREATE[..], &WINDOW, &["--eligibility", file]].concat();
    for (file, expected, named) in [("bad.txt", 2, "line 2"), ("none.txt", 1, "none.txt")] {
        let (code, _, stderr) = ask(&server, &with(file));
        assert_eq!((code, stderr.contains(named)), (expected, true), "{stderr}");
        assert!(stderr.contains("nothing was made"), "{stderr}");
    }
    let products = server.as_admin("GET", "/admin/api/products", None);
    assert_eq!(products.data()["products"], json!([]));
    // As many sales as may have one.
    let filter = json!({"bloom": {"bytes": "AAAAAAAAAAA=", "bits": 64, "hashes": 3}});
    for _ in 0..64 {
        let path = format!(
            "/admin/api/activities/{}/eligibility",
            server.created(1, &json!({"draft": true}))
        );
        assert_eq!(server.as_admin("PUT", &path, Some(&filter)).status, 200);
    }
    let (code, _, stderr) = ask(&server, &with("good.txt"));
    assert_eq!(code, 1, "{stderr}");
    let next = "`seckill activity eligibility put 65 FILE`, then `seckill activity publish 65`";
    assert!(stderr.contains("40900") && stderr.contains(next), "{stderr}");
    assert_eq!(buys(&server, 65, "alice").0, 404);
}

#[test]
fn a_draft_is_seen_by_nobody_until_it_is_published_and_its_level_is_asked_for() {
    let server = Server::start_with(&program(), &[("SECKILL_AUTH__LEVEL_CLAIM", "level")]);
    let create = [
        &CREATE[..],
        &WINDOW,
        &["--draft", "--min-level", "3", "--notice", "Soon"],
    ]
    .concat();
    let (code, stdout, stderr) = ask(&server, &create);
    assert_eq!(code, 0, "{stderr}");
    for said in [
        "phase     draft; buyers do not see it: `seckill activity publish 1`",
        "buyers    from level 3 on",
        "notice    Soon",
    ] {
        assert!(stdout.contains(said), "{said}: {stdout}");
    }
    assert_eq!(buys(&server, 1, "alice").0, 404);
    let (code, stdout, _) = ask(&server, &["check", "1"]);
    assert!(code == 3 && stdout.contains("`seckill activity publish 1`"), "{stdout}");
    let (code, stdout, stderr) = ask(&server, &["activity", "publish", "1"]);
    assert!(code == 0 && stdout.contains("phase     open"), "{stdout}{stderr}");
    ask(&server, &["preheat", "1"]);
    assert_eq!(buys(&server, 1, "alice").1, 40300);
    let (code, stdout, stderr) = ask(&server, &["activity", "change", "1", "--for-everybody", "--no-notice"]);
    assert!(
        code == 0 && !stdout.contains("buyers") && !stdout.contains("notice"),
        "{stdout}{stderr}"
    );
    assert_eq!(buys(&server, 1, "alice").1, 0);
}
