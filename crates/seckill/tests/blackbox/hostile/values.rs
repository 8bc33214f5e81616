//! B-58: products and sales that there can't be.

use serde_json::{Value, json};

use super::operator::command;
use super::{Row, Stage, row};

const PRODUCTS: &str = "/admin/api/products";
const ACTIVITIES: &str = "/admin/api/activities";

/// No number of anything, as JSON or almost.
const NUMBERS: [&str; 14] = [
    "-1",
    "-0",
    "1.5",
    "1e0",
    "0.001",
    "NaN",
    "Infinity",
    "\"1\"",
    "true",
    "null",
    "[1]",
    "9223372036854775808",
    "18446744073709551616",
    "100000000000000000000",
];
/// No name of anything.
const TEXTS: [&str; 7] = [
    "\"\"",
    "\" \"",
    "1",
    "null",
    "\"a\\u0000b\"",
    "\"a\\u202eb\"",
    "\"\\ud800\"",
];
const CURRENCIES: [&str; 6] = ["\"\"", "\"cny\"", "\"CN\"", "\"YUAN\"", "\"C1Y\"", "null"];
/// No end of a sale that began in 2020.
const ENDS: [&str; 7] = [
    "\"2020-01-01T00:00:00Z\"",
    "\"2019-01-01T00:00:00Z\"",
    "\"soon\"",
    "\"2099-01-01\"",
    "\"2099-02-30T00:00:00Z\"",
    "4070908800",
    "null",
];

pub(super) fn rows(stage: &Stage) -> Vec<Row> {
    let mut rows = products(stage);
    rows.extend(sales(stage));
    rows.extend(more_units(stage));
    rows
}

/// A good body with one member changed. As text: JSON of this library has no number of thirty digits, and none that is none.
fn changed(good: &Value, name: &str, value: &str) -> String {
    let mark = json!("the value");
    let mut body = good.clone();
    body[name] = mark.clone();
    body.to_string().replace(&mark.to_string(), value)
}

/// Bodies with one member that has each of these values in turn.
fn wrong<'a>(stage: &'a Stage, path: &'a str, good: &'a Value, name: &'a str, values: &[&str]) -> Vec<Row> {
    let wrong = |value: &&str| {
        let bytes = command(stage, "POST", path, &changed(good, name, value));
        row(format!("B-58 {path} {name} {value}"), bytes, 400, 40_000)
    };
    values.iter().map(wrong).collect()
}

fn products(stage: &Stage) -> Vec<Row> {
    let good = json!({"name": "thing", "price_cents": 1, "currency": "CNY", "stock": 1});
    let members: [(&str, &[&str]); 5] = [
        ("price_cents", &NUMBERS),
        ("stock", &NUMBERS),
        ("name", &TEXTS),
        ("currency", &CURRENCIES),
        ("id", &["7"]),
    ];
    let members = members.into_iter();
    members
        .flat_map(|(name, values)| wrong(stage, PRODUCTS, &good, name, values))
        .collect()
}

fn sales(stage: &Stage) -> Vec<Row> {
    let good = json!({
        "product_id": 1, "title": "sale", "seckill_price_cents": 1, "stock": 1, "per_user_limit": 1, "shards": 1,
        "starts_at": "2020-01-01T00:00:00Z", "ends_at": "2099-01-01T00:00:00Z", "challenge": "none",
    });
    let members: [(&str, &[&str]); 12] = [
        ("seckill_price_cents", &NUMBERS),
        ("stock", &NUMBERS),
        ("per_user_limit", &NUMBERS),
        ("shards", &NUMBERS),
        ("product_id", &NUMBERS),
        ("stock", &["0"]),
        ("per_user_limit", &["0"]),
        ("shards", &["0", "2", "1000000"]),
        ("title", &TEXTS),
        ("ends_at", &ENDS),
        ("challenge", &["\"riddle\"", "1", "\"\""]),
        ("status", &["\"running\""]),
    ];
    let members = members.into_iter();
    let mut rows: Vec<_> = members
        .flat_map(|(name, values)| wrong(stage, ACTIVITIES, &good, name, values))
        .collect();
    let many = command(stage, "POST", ACTIVITIES, &changed(&good, "stock", "1000"));
    rows.push(row("B-58 more units than the product has", many, 409, 40_900));
    rows
}

/// Units that are added to a sale.
fn more_units(stage: &Stage) -> Vec<Row> {
    let path = format!("{ACTIVITIES}/{}/add-stock", stage.activity);
    let add = |quantity: &str| command(stage, "POST", &path, &format!("{{\"quantity\":{quantity}}}"));
    let numbers = NUMBERS.iter().chain(&["0"]);
    let mut rows: Vec<_> = numbers
        .map(|quantity| row(format!("B-58 {quantity} more units"), add(quantity), 400, 40_000))
        .collect();
    rows.push(row("B-58 more units than are left", add("1000"), 409, 40_900));
    rows
}
