//! Requests of a night, each answer of which is held against the description.

use std::collections::BTreeSet;

use http::Method;
use serde_json::Value;

use crate::house::House;
use crate::openapi_document::Document;
use crate::request::Reply;

pub(crate) struct Night {
    pub(crate) house: House,
    pub(crate) document: Document,
    pub(crate) answered: BTreeSet<(String, String)>,
}

impl Night {
    pub(crate) async fn new() -> Self {
        let house = House::new();
        Self {
            document: Document::of(&house).await,
            house,
            answered: BTreeSet::new(),
        }
    }

    /// Checks an answer against what is said of it.
    pub(crate) fn check(&mut self, method: &Method, route: &str, reply: &Reply) {
        let operation = self.document.operation(method, route);
        let (status, at) = (reply.status.as_u16(), format!("{method} {route}"));
        let response = self.document.response(&operation, status);
        let response = response.unwrap_or_else(|| panic!("{at} does not say {status}: {reply:?}"));
        let kind = if reply.status.is_success() {
            "application/json"
        } else {
            "application/problem+json"
        };
        let schema = &response["content"][kind]["schema"];
        assert!(!schema.is_null(), "{at} {status} has no schema");
        assert_eq!(self.document.misfits(schema, &reply.json, &at), Vec::<String>::new());
        if reply.status.is_success() {
            self.answered.insert((method.to_string(), route.to_owned()));
        } else {
            let code = reply.json["code"].to_string();
            let said = response["description"].as_str().expect("a sentence");
            assert!(said.contains(&code), "{at} {status} does not say {code}: {said}");
        }
    }

    async fn ask(&mut self, method: Method, route: &str, id: u64, body: Option<Value>) -> Reply {
        let request = self
            .house
            .ask(method.clone(), &route.replace("{id}", &id.to_string()))
            .operator();
        let reply = match body {
            Some(body) => request.json(&body).send().await,
            None => request.send().await,
        };
        self.check(&method, route, &reply);
        reply
    }

    pub(crate) async fn get(&mut self, route: &str, id: u64) -> Reply {
        self.ask(Method::GET, route, id, None).await
    }

    pub(crate) async fn post(&mut self, route: &str, id: u64, body: Value) -> Reply {
        self.ask(Method::POST, route, id, Some(body)).await
    }

    pub(crate) async fn patch(&mut self, route: &str, id: u64, body: Value) -> Reply {
        self.ask(Method::PATCH, route, id, Some(body)).await
    }

    pub(crate) async fn put(&mut self, route: &str, id: u64, body: Value) -> Reply {
        self.ask(Method::PUT, route, id, Some(body)).await
    }

    pub(crate) async fn delete(&mut self, route: &str, id: u64, body: Value) -> Reply {
        self.ask(Method::DELETE, route, id, Some(body)).await
    }
}
