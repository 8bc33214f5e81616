//! Commands whose answer never came: they say under which key they are given again, and are carried out once.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;

use seckill_testkit::Server;
use serde_json::json;

use crate::activity_command::{CREATE, WINDOW};
use crate::newcomer::{ask, document, read};
use crate::program;

/// An admin port through which requests of a command arrive and the answer of the last one never comes back.
fn losing_answer(admin: SocketAddr, answered_before: usize) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let serve = move || {
        for number in 0..=answered_before {
            let (mut client, _) = listener.accept().expect("a command");
            let mut server = TcpStream::connect(admin).expect("the server");
            server.write_all(&request(&mut client)).expect("passed on");
            let mut answer = Vec::new();
            server.read_to_end(&mut answer).expect("carried out");
            if number < answered_before {
                client.write_all(&answer).expect("passed back");
            }
            let _ = client.shutdown(Shutdown::Both);
        }
    };
    (address.to_string(), std::thread::spawn(serve))
}

/// One whole request.
fn request(client: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            if length.map_or(0, |length| length.parse().expect("a number")) <= body.len() {
                return bytes;
            }
        }
        let count = client.read(&mut piece).expect("a request");
        bytes.extend_from_slice(&piece[..count]);
    }
}

/// Gives a command of which the answer to the write number `answered_before` + 1 is lost; gives the key that it names.
fn key_of_lost(server: &Server, answered_before: usize, arguments: &[&str]) -> String {
    let (admin, serving) = losing_answer(server.admin, answered_before);
    let arguments = [arguments, &["--admin", &admin]].concat();
    let (code, stdout, stderr) = read(&program().run(server.folder.path(), &arguments));
    serving.join().expect("served");
    assert_eq!(code, 4, "{stdout}{stderr}");
    let key = stderr
        .split("--idempotency-key ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    key.unwrap_or_else(|| panic!("no key is named: {stderr}")).to_owned()
}

#[test]
fn added_units_whose_answer_was_lost_are_added_once_with_the_key_and_twice_without() {
    let server = Server::start(&program());
    let product = json!({"name": "p", "price_cents": 100, "currency": "CNY", "stock": 100});
    let product = server.as_admin("POST", "/admin/api/products", Some(&product));
    let product = product.data()["id"].to_string();
    let (code, _, stderr) = ask(&server, &[&CREATE[..], &WINDOW, &["--product", &product]].concat());
    assert_eq!(code, 0, "{stderr}");
    let add = ["activity", "add-stock", "1", "--quantity", "7", "--json"];
    let key = key_of_lost(&server, 0, &add);
    let units = |arguments: &[&str]| {
        let (code, stdout, stderr) = ask(&server, arguments);
        assert_eq!(code, 0, "{stderr}");
        document(&stdout)["stock_total"].as_u64()
    };
    let again = [&add[..], &["--idempotency-key", &key]].concat();
    assert_eq!([units(&again), units(&again), units(&add)], [17, 17, 24].map(Some));
    let (code, _, stderr) = ask(&server, &[&add[..], &["--idempotency-key", "two words"]].concat());
    assert_eq!(code, 2, "{stderr}");
}

#[test]
fn a_sale_whose_answer_was_lost_is_made_once_with_its_product() {
    let server = Server::start(&program());
    let create = [&CREATE[..], &WINDOW].concat();
    let key = key_of_lost(&server, 1, &create);
    let (code, _, stderr) = ask(&server, &[&create[..], &["--idempotency-key", &key]].concat());
    assert_eq!(code, 0, "{stderr}");
    for rows in ["products", "activities"] {
        let list = server.as_admin("GET", &format!("/admin/api/{rows}"), None);
        assert_eq!(list.data()[rows].as_array().map(Vec::len), Some(1), "{rows}");
    }
}
