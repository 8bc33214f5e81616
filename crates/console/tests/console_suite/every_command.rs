//! Every command that writes, and a house in which each can be done.

use http::Method;
use serde_json::{Value, json};

use crate::eligibility::{path as list_of, put};
use crate::house::{House, activity, with};
use crate::request::Reply;

/// What a command is done to.
#[derive(Clone, Copy)]
pub(crate) struct Of {
    pub(crate) running: u64,
    paused: u64,
    draft: u64,
    unheated: u64,
    letter: u64,
    block: u64,
}

/// A house with all that commands are done to.
pub(crate) async fn begin(house: &House) -> Of {
    let running = house.opened(5).await;
    house.claim(running, "bad").await.expect("bought");
    house.park_all().await;
    let letters = house.get("/admin/api/dead-letters").await;
    let letter = letters.data()["dead_letters"][0]["id"].as_u64().expect("a letter");
    put(house, running, "text/plain", b"alice").await.is(200, 0);
    let paused = house.opened(5).await;
    let pause = format!("/admin/api/activities/{paused}/pause");
    house.post(&pause, json!({})).await.is(200, 0);
    let hidden = with(activity(house.product().await, 5), "draft", json!(true));
    let draft = house.post("/admin/api/activities", hidden).await.is(201, 0).id();
    let unheated = house.created(5).await;
    let block = json!({"kind": "user", "value": "eve"});
    let block = house.post("/admin/api/blocks", block).await.is(201, 0).id();
    Of {
        running,
        paused,
        draft,
        unheated,
        letter,
        block,
    }
}

/// Its name, its request, and the status of its answer where the database is gone behind its first write.
pub(crate) type Command = (&'static str, fn(Of) -> (Method, String, Value), u16);

fn of_activity(id: u64, action: &str) -> String {
    format!("/admin/api/activities/{id}{action}")
}

/// Every command.
pub(crate) const COMMANDS: &[Command] = &[
    (
        "title",
        |of| (Method::PATCH, of_activity(of.running, ""), json!({"title": "new"})),
        200,
    ),
    (
        "publish",
        |of| (Method::PATCH, of_activity(of.draft, ""), json!({"publish": true})),
        200,
    ),
    (
        "everybody",
        |of| (Method::PATCH, of_activity(of.running, ""), json!({"eligibility": null})),
        200,
    ),
    (
        "add stock",
        |of| {
            (
                Method::POST,
                of_activity(of.running, "/add-stock"),
                json!({"quantity": 7}),
            )
        },
        200,
    ),
    (
        "add units to the product",
        |_| {
            (
                Method::POST,
                "/admin/api/products/1/add-stock".to_owned(),
                json!({"quantity": 7}),
            )
        },
        200,
    ),
    (
        "pause",
        |of| (Method::POST, of_activity(of.running, "/pause"), json!({})),
        200,
    ),
    (
        "resume",
        |of| (Method::POST, of_activity(of.paused, "/resume"), json!({})),
        503,
    ),
    (
        "resume later",
        |of| {
            (
                Method::POST,
                of_activity(of.paused, "/resume"),
                json!({"at": "2026-11-11T00:30:00Z"}),
            )
        },
        200,
    ),
    (
        "close",
        |of| (Method::POST, of_activity(of.running, "/close"), json!({})),
        200,
    ),
    (
        "preheat",
        |of| (Method::POST, of_activity(of.unheated, "/preheat"), json!({})),
        503,
    ),
    ("list", |of| (Method::DELETE, list_of(of.running), json!({})), 200),
    (
        "retry",
        |of| {
            (
                Method::POST,
                format!("/admin/api/dead-letters/{}/retry", of.letter),
                json!({}),
            )
        },
        200,
    ),
    (
        "discard",
        |of| {
            (
                Method::POST,
                format!("/admin/api/dead-letters/{}/discard", of.letter),
                json!({"reason": "bad"}),
            )
        },
        200,
    ),
    (
        "block",
        |_| {
            (
                Method::POST,
                "/admin/api/blocks".to_owned(),
                json!({"kind": "user", "value": "mallory"}),
            )
        },
        201,
    ),
    (
        "unblock",
        |of| (Method::DELETE, format!("/admin/api/blocks/{}", of.block), json!({})),
        200,
    ),
    (
        "limits",
        |_| {
            (
                Method::PATCH,
                "/admin/api/switches".to_owned(),
                json!({"backlog_max": 7}),
            )
        },
        200,
    ),
];

/// Gives the command.
pub(crate) async fn send(house: &House, command: &Command, of: Of) -> Reply {
    let (method, path, body) = (command.1)(of);
    house.ask(method, &path).operator().json(&body).send().await
}
