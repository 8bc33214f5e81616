//! What the stand-in sells, and how it answers.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::testing::{Reply, Stub};

/// Sales by activity id minus one: units, and the buyers' tokens with their tickets. What is done is kept in a file, line by line.
pub(super) struct Product {
    sales: Vec<(usize, HashMap<String, usize>)>,
    file: File,
    /// Where units of expired orders go; orders expire once an audit has found them written.
    units_to: Option<String>,
    audits: usize,
}

impl Product {
    pub(super) fn on(folder: &Path) -> Self {
        std::fs::create_dir_all(folder.join("journal")).unwrap();
        let path = folder.join("journal").join("done");
        let done = std::fs::read_to_string(&path).unwrap_or_default();
        let mut product = Self {
            sales: Vec::new(),
            file: File::options().append(true).create(true).open(path).unwrap(),
            units_to: std::env::var("SECKILL_UNITS__ON_CANCEL").ok(),
            audits: 0,
        };
        for line in done.lines() {
            product.apply(line);
        }
        product
    }

    fn keep(&mut self, line: &str) {
        writeln!(self.file, "{line}").unwrap();
        self.apply(line);
    }

    fn apply(&mut self, line: &str) {
        match line.split_once(' ').unwrap() {
            ("open", units) => self.sales.push((units.parse().unwrap(), HashMap::new())),
            (id, token) => {
                let (_, sold) = self.sale(id);
                sold.insert(token.to_owned(), sold.len());
            }
        }
    }

    pub(super) fn answer(&mut self, request: &str) -> Reply {
        let mut words = request.split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let body = request.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match (method, &parts[..]) {
            ("GET", ["readyz"]) => Stub::closing(200, "").into(),
            ("GET", ["metrics"]) => Stub::closing(200, "seckill_queue_oldest_seconds 0.25\n").into(),
            ("POST", ["admin", "api", "products"]) => said_by_admin(201, &json!({"id": 1})),
            ("POST", ["admin", "api", "activities"]) => {
                let body: Value = serde_json::from_str(body).unwrap();
                self.keep(&format!("open {}", body["stock"]));
                said_by_admin(201, &json!({"id": self.sales.len()}))
            }
            ("POST", ["admin", "api", "activities", _, "preheat" | "close"]) => said_by_admin(200, &json!({})),
            ("GET", ["admin", "api", "activities", id, "audit"]) => {
                self.audits += 1;
                said_by_admin(200, &self.audit(id))
            }
            ("GET", ["admin", "api", "products", _]) => {
                let returned = self.audit("1")["returned"].clone();
                said_by_admin(200, &json!({"stock": returned}))
            }
            ("GET", ["api", "seckill", "result", id]) if self.sale(id).1.contains_key(token(request)) => {
                public(request, 200, r#"{"code":1,"data":{"order_no":"o"}}"#)
            }
            ("GET", ["api", "seckill", "result", _]) => public(request, 404, r#"{"code":40401}"#),
            ("GET", ["api", "activities", _]) => public(request, 200, r#"{"code":0,"data":{"phase":"open"}}"#),
            ("GET", ["api", "seckill", "events", _]) => public(request, 200, ""),
            ("POST", ["api", "seckill", id]) if id.parse().is_ok_and(|id: usize| id <= self.sales.len()) => {
                self.buy(id, request)
            }
            _ => public(request, 404, r#"{"code":40400}"#),
        }
    }

    fn sale(&mut self, id: &str) -> &mut (usize, HashMap<String, usize>) {
        let number: usize = id.parse().unwrap();
        &mut self.sales[number - 1]
    }

    fn audit(&mut self, id: &str) -> Value {
        let expires_to = self.units_to.clone().filter(|_| 1 < self.audits);
        let (units, sold) = self.sale(id);
        let (units, sold) = (*units, sold.len());
        let to = |place: &str| if expires_to.as_deref() == Some(place) { sold } else { 0 };
        let expired = to("product") + to("sale");
        json!({
            "stock_total": units, "stock_left": units - sold + to("sale"), "accepted": sold, "queued": 0, "succeeded": sold, "failed": 0,
            "dead": 0, "orders_live": sold - expired, "orders_cancelled": expired, "returned": to("product"), "balanced": true,
        })
    }

    fn buy(&mut self, id: &str, request: &str) -> Reply {
        let (units, sold) = self.sale(id);
        if let Some(ticket) = sold.get(token(request)) {
            let body = json!({"code": 40004, "data": {"ticket": format!("t{ticket}")}});
            return public(request, 409, &body.to_string());
        }
        if sold.len() == *units {
            return public(request, 410, r#"{"code":40005}"#);
        }
        let ticket = sold.len();
        self.keep(&format!("{id} {}", token(request)));
        public(
            request,
            202,
            &json!({"code": 0, "data": {"ticket": format!("t{ticket}")}}).to_string(),
        )
    }
}

fn token(request: &str) -> &str {
    request.split("Bearer ").nth(1).unwrap().split("\r\n").next().unwrap()
}

fn said_by_admin(status: u16, data: &Value) -> Reply {
    Stub::closing(status, &json!({"code": 0, "data": data}).to_string()).into()
}

/// Keeps the connection unless the client wants it closed.
fn public(request: &str, status: u16, body: &str) -> Reply {
    if request.contains("Connection: close") {
        Stub::closing(status, body).into()
    } else {
        Stub::json(status, body).into()
    }
}
