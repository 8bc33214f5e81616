//! Alerts reach a real receiver, signed, again and again under one id until he has them, and never hold up whoever tells them.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use seckill_alerts::{Alert, Alerts, Endpoint, Kind, QUEUE_MAX, SigningKey, Target, Turn, Waits, alerts};
use seckill_sale::{ActivityId, EpochMs, ManualClock};
use sha2::Sha256;
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(30);
const NOW: EpochMs = EpochMs(1_794_355_200_000);
const KEY: [u8; 32] = [7; 32];

/// A receiver that answers what it is told, one connection after the other, and shows what came.
struct Receiving {
    address: SocketAddr,
    requests: Receiver<String>,
}

impl Receiving {
    /// `answers` are sent in their order; the last one again and again. An empty one is none: the connection is closed.
    fn start(answers: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("bound");
        let (sender, requests) = sync_channel(1_000);
        std::thread::spawn(move || {
            for (at, stream) in listener.incoming().enumerate() {
                let mut stream = stream.expect("accepted");
                let request = read(&mut stream);
                let _ = stream.write_all(answers[at.min(answers.len() - 1)].as_bytes());
                if sender.send(request).is_err() {
                    return;
                }
            }
        });
        Self { address, requests }
    }

    fn next(&self) -> String {
        self.requests.recv_timeout(PATIENCE).expect("a message came")
    }
}

/// A whole request with a body of the length that it says.
fn read(stream: &mut TcpStream) -> String {
    let (mut request, mut buffer) = (Vec::new(), [0; 4_096]);
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && body.len() == header(head, "content-length").parse::<usize>().expect("a length")
        {
            return text;
        }
        let length = stream.read(&mut buffer).expect("readable");
        assert_ne!(length, 0, "the request broke off: {text}");
        request.extend_from_slice(&buffer[..length]);
    }
}

fn header<'a>(head: &'a str, name: &str) -> &'a str {
    let mut fields = head.lines().filter_map(|line| line.split_once(": "));
    let found = fields.find(|(field, _)| field.eq_ignore_ascii_case(name));
    found.unwrap_or_else(|| panic!("{name} is not in {head}")).1
}

fn alert(kind: Kind, activity: Option<u64>) -> Alert {
    Alert {
        kind,
        activity: activity.and_then(|id| ActivityId::new(id).ok()),
        turn: Turn::Raised,
        since: NOW.plus(-5_000),
        at: NOW,
        said: "「红色」".to_owned(),
    }
}

/// Tells by a delivery that runs until the test ends.
fn telling(address: SocketAddr) -> (Alerts, CancellationToken) {
    let target = Target {
        endpoint: Endpoint::parse(&format!("http://{address}/hook?who=me")).expect("an address"),
        tls: None,
        key: Some(SigningKey::parse(&STANDARD.encode(KEY)).expect("a key")),
        node: "node-1".to_owned(),
        waits: Waits {
            answer_within: PATIENCE,
            retry_first: Duration::from_millis(1),
            retry_max: Duration::from_millis(4),
        },
    };
    let (alerts, delivery) = alerts(Some(target), Arc::new(ManualClock::at(NOW)));
    let shutdown = CancellationToken::new();
    let ends = shutdown.clone();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    std::thread::spawn(move || runtime.block_on(delivery.expect("there is a target").run(ends)));
    (alerts, shutdown)
}

#[test]
fn an_alert_arrives_signed_and_says_what_it_is_about() {
    let receiving = Receiving::start(&["HTTP/1.1 204 No Content\r\n\r\n"]);
    let (alerts, shutdown) = telling(receiving.address);
    alerts.tell(alert(Kind::ActivityFenced, Some(7)));
    let request = receiving.next();
    let (head, body) = request.split_once("\r\n\r\n").expect("a body");
    assert!(head.starts_with("POST /hook?who=me HTTP/1.1\r\n"), "{head}");
    assert_eq!(header(head, "host"), receiving.address.to_string());
    let (id, timestamp) = (header(head, "webhook-id"), header(head, "webhook-timestamp"));
    assert_eq!(timestamp, "1794355200");
    let signature = header(head, "webhook-signature")
        .strip_prefix("v1,")
        .expect("a version");
    let mut mac = Hmac::<Sha256>::new_from_slice(&KEY).expect("any length");
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    mac.verify_slice(&STANDARD.decode(signature).expect("base64"))
        .expect("the signature fits");
    let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
    assert_eq!(body["type"], "alert.raised");
    let data = serde_json::json!({
        "kind": "activity_fenced", "activity_id": 7, "since_ms": NOW.0 - 5_000, "at_ms": NOW.0, "said": "「红色」", "node": "node-1",
    });
    assert_eq!(body["data"], data);
    shutdown.cancel();
}

#[test]
fn a_message_is_sent_again_under_its_id_until_it_is_taken_and_then_the_next() {
    let receiving = Receiving::start(&[
        "HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n",
        "",
        "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
    ]);
    let (alerts, shutdown) = telling(receiving.address);
    alerts.tell(alert(Kind::StoreDown, None));
    alerts.tell(alert(Kind::DatabaseDown, None));
    let requests: Vec<_> = (0..5).map(|_| receiving.next()).collect();
    let ids: Vec<_> = requests.iter().map(|request| header(request, "webhook-id")).collect();
    assert!(ids[..4].iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_ne!(ids[4], ids[0]);
    assert!(requests[3].contains("store_down") && requests[4].contains("database_down"));
    shutdown.cancel();
}

#[test]
fn a_receiver_that_never_takes_it_is_given_up_and_one_that_is_gone_at_once() {
    let receiving = Receiving::start(&["HTTP/1.1 503 Later\r\ncontent-length: 0\r\n\r\n"]);
    let (alerts, shutdown) = telling(receiving.address);
    alerts.tell(alert(Kind::StoreDown, None));
    alerts.tell(alert(Kind::DatabaseDown, None));
    let ids: Vec<_> = (0..=10)
        .map(|_| header(&receiving.next(), "webhook-id").to_owned())
        .collect();
    assert!(ids[..10].iter().all(|id| *id == ids[0]) && ids[10] != ids[0], "{ids:?}");
    shutdown.cancel();
    let receiving = Receiving::start(&["HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"]);
    let (alerts, shutdown) = telling(receiving.address);
    alerts.tell(alert(Kind::StoreDown, None));
    alerts.tell(alert(Kind::DatabaseDown, None));
    assert_ne!(
        header(&receiving.next(), "webhook-id").to_owned(),
        header(&receiving.next(), "webhook-id")
    );
    shutdown.cancel();
}

#[test]
fn nobody_waits_for_a_receiver_that_is_stuck_or_for_one_that_is_not_there() {
    let stuck = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let (to_stuck, shutdown) = telling(stuck.local_addr().expect("bound"));
    let (to_nobody, none) = alerts(None, Arc::new(ManualClock::at(NOW)));
    assert!(none.is_none());
    for _ in 0..QUEUE_MAX * 3 {
        to_stuck.tell(alert(Kind::DeadLetters, None));
        to_nobody.tell(alert(Kind::DeadLetters, None));
    }
    shutdown.cancel();
}
