//! What is told to a webhook when something goes wrong, and when it is well again. A store that goes is told in `live`.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use seckill_testkit::{Certified, Postgres, Server, free_address};
use serde_json::{Value, json};

use crate::program;

/// A receiver of alerts, and what it has got.
pub(crate) struct Receiving {
    pub(crate) url: String,
    told: Receiver<String>,
}

impl Receiving {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let url = format!("http://{}/hook", listener.local_addr().expect("bound"));
        let (sender, told) = sync_channel(100);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                let (mut request, mut buffer) = (Vec::new(), [0; 4_096]);
                while !String::from_utf8_lossy(&request).ends_with('}') {
                    let length = stream.read(&mut buffer).expect("readable");
                    request.extend_from_slice(&buffer[..length]);
                }
                stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").expect("answered");
                if sender.send(String::from_utf8_lossy(&request).into_owned()).is_err() {
                    return;
                }
            }
        });
        Self { url, told }
    }

    /// The next alert of this kind.
    pub(crate) fn next(&self, kind: &str) -> Value {
        loop {
            let request = self.told.recv_timeout(Duration::from_secs(60)).expect("an alert came");
            let body = body(&request);
            if body["data"]["kind"] == kind {
                return body;
            }
        }
    }
}

fn body(request: &str) -> Value {
    let (_, body) = request.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("JSON")
}

/// Sells a unit, and deletes its order by hand; gives the sale.
fn unbalance(server: &Server) -> u64 {
    let activity = server.sale(5, &json!({}));
    server.buy(activity, "a", "k").expect("answers");
    assert_eq!(server.settled(activity)["balanced"], true);
    let database = rusqlite::Connection::open(server.data().join("seckill.db")).expect("the database");
    database.busy_timeout(Duration::from_secs(20)).expect("set");
    assert_eq!(database.execute("DELETE FROM orders", []), Ok(1));
    assert_eq!(server.settled(activity)["balanced"], false);
    activity
}

#[test]
fn an_audit_that_does_not_balance_is_told_to_the_webhook() {
    let receiving = Receiving::start();
    let server = Server::start_with(&program(), &[("SECKILL_ALERTS__WEBHOOK_URL", &receiving.url)]);
    let activity = unbalance(&server);
    let alert = receiving.next("audit_drift");
    assert_eq!(
        (&alert["type"], &alert["data"]["activity_id"]),
        (&json!("alert.raised"), &json!(activity))
    );
    server.until_logged("audit_drift");
}

#[test]
fn tickets_that_cannot_become_orders_are_told_to_the_webhook() {
    let receiving = Receiving::start();
    let server = Server::start_with(&program(), &[("SECKILL_ALERTS__WEBHOOK_URL", &receiving.url)]);
    let activity = server.sale(5, &json!({}));
    let database = rusqlite::Connection::open(server.data().join("seckill.db")).expect("the database");
    database.busy_timeout(Duration::from_secs(20)).expect("set");
    let refuse = "CREATE TRIGGER no_order BEFORE INSERT ON orders BEGIN SELECT RAISE(ABORT, 'no order of his'); END";
    database.execute_batch(refuse).expect("made");
    assert_eq!(server.buy(activity, "a", "k").expect("answers").status, 202);
    let alert = receiving.next("dead_letters");
    assert_eq!(alert["type"], "alert.raised");
    assert!(
        alert["data"]["said"]
            .as_str()
            .is_some_and(|said| said.starts_with("1 dead letter waits")),
        "{alert}"
    );
    database.execute_batch("DROP TRIGGER no_order").expect("gone");
    let letters = server.as_admin("GET", "/admin/api/dead-letters", None);
    let id = letters.data()["dead_letters"][0]["id"].as_u64().expect("a letter");
    let path = format!("/admin/api/dead-letters/{id}/retry");
    assert_eq!(server.as_admin("POST", &path, Some(&json!({}))).status, 200);
    assert_eq!(receiving.next("dead_letters")["type"], "alert.resolved");
}

#[test]
fn a_database_that_goes_and_comes_back_is_told_to_the_webhook() {
    let (receiving, mut database) = (Receiving::start(), Postgres::alone(&[]));
    let url = database.url();
    let settings = [
        ("SECKILL_ALERTS__WEBHOOK_URL", receiving.url.as_str()),
        ("SECKILL_ALERTS__DOWN_AFTER", "0s"),
        ("SECKILL_DATABASE__URL", &url),
        ("SECKILL_DATABASE__MIGRATE", "auto"),
    ];
    let _server = Server::start_with(&program(), &settings);
    database.kill();
    assert_eq!(receiving.next("database_down")["type"], "alert.raised");
    database.start_again();
    assert_eq!(receiving.next("database_down")["type"], "alert.resolved");
}

/// `openssl` as a receiver that speaks encrypted alone, and takes one message.
struct ReceivingTls {
    url: String,
    certified: Certified,
    child: Child,
}

impl ReceivingTls {
    fn start() -> Self {
        let (certified, address) = (Certified::make(), free_address());
        let file = |name: &str| certified.file(name);
        let child = Command::new("openssl")
            .args(["s_server", "-quiet", "-naccept", "1", "-accept", &address.to_string()])
            .args(["-cert", &file("server.pem"), "-key", &file("server.key")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("openssl starts");
        Self {
            url: format!("https://{address}/hook"),
            certified,
            child,
        }
    }

    /// The message that comes, which is taken.
    fn next(&mut self) -> Value {
        let (mut request, mut buffer) = (Vec::new(), [0; 4_096]);
        while !String::from_utf8_lossy(&request).ends_with('}') {
            let length = self
                .child
                .stdout
                .as_mut()
                .expect("is piped")
                .read(&mut buffer)
                .expect("readable");
            assert_ne!(length, 0, "it ended: {}", String::from_utf8_lossy(&request));
            request.extend_from_slice(&buffer[..length]);
        }
        let stdin = self.child.stdin.as_mut().expect("is piped");
        stdin.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").expect("answered");
        body(&String::from_utf8_lossy(&request))
    }
}

impl Drop for ReceivingTls {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server that has something to tell to `url`, and trusts whom the file names.
fn with_something_to_tell(url: &str, authority: &str) -> Server {
    let settings = [("SECKILL_ALERTS__WEBHOOK_URL", url), ("SSL_CERT_FILE", authority)];
    let server = Server::start_with(&program(), &settings);
    unbalance(&server);
    server
}

#[test]
fn an_encrypted_webhook_is_told_where_its_certificate_is_trusted_and_not_otherwise() {
    let mut receiving = ReceivingTls::start();
    let authority = receiving.certified.file("authority.pem");
    let trusting = with_something_to_tell(&receiving.url, &authority);
    assert_eq!(receiving.next()["data"]["kind"], "audit_drift");
    assert!(!trusting.log().contains("did not take"), "{}", trusting.log());
    let (receiving, stranger) = (ReceivingTls::start(), Certified::make());
    let distrusting = with_something_to_tell(&receiving.url, &stranger.file("authority.pem"));
    distrusting.until_logged("no encrypted connection: invalid peer certificate");
}
