//! Rows of products.

use super::db::{Transaction, params};
use seckill_ledger::{Context, NewProduct, Product};
use seckill_sale::{ProductId, Stock};
use serde_json::{Value, json};

use super::admin::audit;
use super::errors::{Stop, found, rejected};
use super::rows::{PRODUCT, product, small};
use super::stock::give_to_product;

pub(super) fn read_product(transaction: &Transaction<'_>, id: ProductId) -> Result<Product, Stop> {
    let mut statement = transaction.prepare_cached(&format!("SELECT {PRODUCT} FROM products WHERE id = ?1"))?;
    found(statement.query_row([small(id.get())], product), "product")
}

pub(super) fn product_id(id: u64) -> Result<ProductId, Stop> {
    ProductId::new(id).map_err(|error| rejected(error.to_string()))
}

pub(super) fn create_product(
    transaction: &Transaction<'_>,
    new: &NewProduct,
    context: &Context,
) -> Result<Product, Stop> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO products (name, price_cents, currency, stock, version, created_at) VALUES (?1, ?2, ?3, ?4, 1, ?5)",
    )?;
    let id = statement.insert(params![
        new.name,
        small(new.price.cents()),
        new.currency.as_str(),
        small(new.stock.get()),
        context.now.0
    ])?;
    let made = read_product(transaction, product_id(id.cast_unsigned())?)?;
    let after = json!({"name": made.name, "price_cents": made.price, "currency": made.currency, "stock": made.stock});
    audit(
        transaction,
        context,
        "product.create",
        &format!("product {}", made.id),
        &Value::Null,
        &after,
    )?;
    Ok(made)
}

pub(super) fn restock_product(
    transaction: &Transaction<'_>,
    id: ProductId,
    units: Stock,
    context: &Context,
) -> Result<Product, Stop> {
    give_to_product(transaction, id, units.get())?;
    let after = read_product(transaction, id)?;
    let subject = format!("product {id}");
    let stock = |stock: u64| json!({"stock": stock});
    audit(
        transaction,
        context,
        "product.add_stock",
        &subject,
        &stock(after.stock.saturating_sub(units.get())),
        &stock(after.stock),
    )?;
    Ok(after)
}
