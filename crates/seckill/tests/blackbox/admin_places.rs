//! The few places of the admin port: connections that are kept and ask for nothing do not keep the operator out.

use seckill_testkit::{Server, Wire};
use serde_json::json;

use crate::newcomer::read;
use crate::program;

/// As many as the admin port has places.
const PLACES: usize = 512;

/// A connection that was answered and is kept.
fn kept(server: &Server) -> Wire {
    let mut wire = Wire::open(server.admin).expect("it listens");
    wire.send("GET /readyz HTTP/1.1\r\nHost: scanner\r\n\r\n")
        .expect("a place");
    assert_eq!(wire.answer().expect("answered").status, 200);
    wire
}

#[test]
fn an_operator_gets_in_while_idle_connections_hold_every_place_of_the_admin_port() {
    let server = Server::start(&program());
    let mut idle: Vec<_> = (0..PLACES).map(|_| kept(&server)).collect();
    for command in [
        &["switches", "show"][..],
        &["switches", "set", "entry_open=false"],
        &["check"],
    ] {
        let admin = server.admin.to_string();
        let output = program().run(server.folder.path(), &[command, &["--admin", &admin]].concat());
        let (code, stdout, stderr) = read(&output);
        // The checklist says that the entrance is shut.
        let expect = if command == ["check"] { 3 } else { 0 };
        assert_eq!(code, expect, "{command:?} {stdout}{stderr}");
    }
    let shut = server.as_admin("GET", "/admin/api/switches", None);
    assert_eq!(shut.data()["entry_open"], json!(false), "{shut:?}");
    // Those that came last are still there: only as many went as others came.
    let newest = idle.last_mut().expect("held");
    newest
        .send("GET /readyz HTTP/1.1\r\nHost: scanner\r\n\r\n")
        .expect("kept");
    assert_eq!(newest.answer().expect("answered").status, 200);
}
