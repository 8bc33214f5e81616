//! The description against the router and the readers of bodies, both ways: what is described is there, what is there is described.

use std::collections::BTreeSet;

use http::Method;
use seckill_console::ROUTES;
use serde_json::{Map, Value, json};

use crate::access::path;
use crate::house::House;
use crate::openapi_document::{Document, Operation, types};
use crate::request::Reply;

/// Pages and the description are no part of what it describes.
const UNLISTED: [&str; 6] = ["/", "/docs", "/docs.css", "/docs.js", "/openapi.json", "/style.css"];
const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

#[tokio::test]
async fn every_method_of_every_route_is_described_and_nothing_else() {
    let house = House::new();
    let document = Document::of(&house).await;
    let described: BTreeSet<_> = document
        .operations()
        .into_iter()
        .map(|operation| (operation.route, operation.method.to_string()))
        .collect();
    let mut there = BTreeSet::new();
    for route in ROUTES.iter().filter(|route| !UNLISTED.contains(route)) {
        for method in METHODS {
            let reply = house.ask(method.clone(), &path(route)).operator().send().await;
            if reply.json["code"] != 40500 {
                there.insert(((*route).to_owned(), method.to_string()));
            }
        }
    }
    assert_eq!(described, there);
}

async fn send(house: &House, operation: &Operation, body: &Value) -> Reply {
    let request = house.ask(operation.method.clone(), &path(&operation.route));
    request.operator().json(body).send().await
}

/// The member that a 400 is about; none for every other answer.
fn refused(reply: &Reply) -> Option<&str> {
    (reply.status.as_u16() == 400).then(|| reply.data()["field"].as_str().unwrap_or_default())
}

/// An object of all examples.
fn example(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().expect("an object");
    let of = |(name, member): (&String, &Value)| {
        let value = if member["properties"].is_object() {
            example(member)
        } else {
            member
                .get("example")
                .unwrap_or_else(|| panic!("{name} has no example"))
                .clone()
        };
        (name.clone(), value)
    };
    Value::Object(properties.iter().map(of).collect::<Map<_, _>>())
}

/// The operations that take a body, with its schema.
fn with_body(document: &Document) -> Vec<(Operation, Value)> {
    let all = document.operations().into_iter();
    let found: Vec<_> = all
        .filter_map(|operation| Some((document.body(&operation)?, operation)))
        .map(|(schema, operation)| (operation, schema))
        .collect();
    let writes = document
        .operations()
        .iter()
        .filter(|operation| operation.method != Method::GET)
        .count();
    assert_eq!(found.len(), writes, "every write takes a body");
    found
}

/// The reader names all members that it knows when it meets one that it doesn't.
#[tokio::test]
async fn bodies_have_the_described_members_and_no_others() {
    let house = House::new();
    let document = Document::of(&house).await;
    for (operation, schema) in with_body(&document) {
        assert_eq!(schema["additionalProperties"], false, "{}", operation.route);
        let mut objects = vec![(schema.clone(), json!({"strange": 0}))];
        for (name, member) in schema["properties"].as_object().expect("an object") {
            if member["properties"].is_object() {
                objects.push((member.clone(), json!({name: {"strange": 0}})));
            }
        }
        for (schema, body) in objects {
            let reply = send(&house, &operation, &body).await;
            reply.is(400, 40000);
            let detail = reply.json["detail"].as_str().expect("a detail");
            let (_, expected) = detail
                .split_once("strange: there is no such member")
                .unwrap_or_else(|| panic!("{detail}"));
            let known = expected.strip_prefix("; there are ").unwrap_or_default().split(", ");
            let known: BTreeSet<_> = known.filter(|name| !name.is_empty()).collect();
            let described = schema["properties"].as_object().expect("an object");
            let described: BTreeSet<_> = described.keys().map(String::as_str).collect();
            assert_eq!(described, known, "{} {}", operation.method, operation.route);
        }
    }
}

#[tokio::test]
async fn members_are_required_and_of_the_type_as_described() {
    let house = House::new();
    house.opened(200).await;
    let document = Document::of(&house).await;
    for (operation, schema) in with_body(&document) {
        let at = format!("{} {}", operation.method, operation.route);
        let whole = example(&schema);
        assert_eq!(document.misfits(&schema, &whole, "body"), Vec::<String>::new(), "{at}");
        for (name, member) in schema["properties"].as_object().expect("an object") {
            let mut without = whole.clone();
            without.as_object_mut().expect("an object").remove(name);
            let is_required = schema["required"].as_array().expect("a list").contains(&json!(name));
            let reply = send(&house, &operation, &without).await;
            assert_eq!(refused(&reply).is_some(), is_required, "{at} without {name}: {reply:?}");

            let with = |value: Value| {
                let mut body = whole.clone();
                body[name] = value;
                body
            };
            let types = types(member);
            let other = if types.contains(&"string") {
                json!(1)
            } else {
                json!("x")
            };
            let reply = send(&house, &operation, &with(other)).await;
            assert!(refused(&reply).is_some(), "{at}: {name} of another type: {reply:?}");
            let reply = send(&house, &operation, &with(Value::Null)).await;
            let is_nullable = types.contains(&"null");
            assert_eq!(refused(&reply).is_none(), is_nullable, "{at}: {name} null: {reply:?}");
        }
        let reply = send(&house, &operation, &whole).await;
        assert!(
            refused(&reply).is_none() && reply.json["code"] != 50000,
            "{at}: {reply:?}"
        );
    }
}
