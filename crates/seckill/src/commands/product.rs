//! `seckill product`, through the admin API of a running server.

use serde_json::{Value, json};

use super::Context;
use super::remote::Remote;
use crate::cli::{AdminArgs, ProductCommand};
use crate::exit::Outcome;
use crate::logging::print;

const PATH: &str = "/admin/api/products";

pub(super) fn run(context: &Context, admin: &AdminArgs, command: &ProductCommand) -> Outcome {
    let remote = Remote::new(context, admin)?;
    let answer = match command {
        ProductCommand::List => remote.rows(PATH, "products")?,
        ProductCommand::Show { id } => remote.get(&format!("{PATH}/{id}"))?,
        ProductCommand::AddStock { id, quantity } => {
            remote.post(&format!("{PATH}/{id}/add-stock"), &json!({ "quantity": quantity }))?
        }
    };
    if context.json {
        return print(&answer.to_string());
    }
    if let ProductCommand::AddStock { quantity, .. } = command {
        print(&format!("{quantity} units added"))?;
    }
    match &answer {
        Value::Array(rows) => rows.iter().try_for_each(|row| print(&line(row))),
        product => print(&line(product)),
    }
}

/// One line of the list.
fn line(product: &Value) -> String {
    format!(
        "{:>4}  {}  {} units that no sale holds, {} in minor units of {}",
        product["id"].to_string(),
        product["name"].as_str().unwrap_or_default(),
        product["stock"],
        product["price_cents"],
        product["currency"].as_str().unwrap_or_default()
    )
}
