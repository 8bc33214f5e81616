//! Products: what sales take their units from.

use http::header::LOCATION;
use http::{StatusCode, Uri};
use seckill_api::Answer;
use seckill_ledger::NewProduct;
use seckill_sale::{Currency, Price, ProductId, Stock};
use serde::Deserialize;

use crate::call::{Call, RowInPath};
use crate::error::Error;
use crate::list::{self, PageQuery};
use crate::outer::Reply;
use crate::views::ProductView;
use crate::write::Write;
use crate::{activities, input};

/// A product to be made.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    name: String,
    price_cents: u64,
    currency: String,
    stock: u64,
}

pub(crate) fn narrowed(wanted: Wanted) -> Result<NewProduct, Error> {
    Ok(NewProduct {
        name: input::title("name", wanted.name)?,
        price: input::number("price_cents", wanted.price_cents, Price::new)?,
        currency: Currency::new(&wanted.currency).map_err(|error| Error::invalid("currency", error.to_string()))?,
        stock: input::number("stock", wanted.stock, Stock::new)?,
    })
}

/// Makes a product.
pub(crate) async fn create(Write { call, body, context }: Write<Wanted>) -> Result<Reply, Error> {
    let product = call.console.ledger().create_product(narrowed(body)?, context).await?;
    let answer = Answer::fine(&ProductView::from(&product)).status(StatusCode::CREATED);
    Ok(Reply(answer.header(
        LOCATION,
        activities::location("/admin/api/products", product.id.get()),
    )))
}

/// Units for a product.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Units {
    quantity: u64,
}

/// Gives it more units, which no sale holds yet.
pub(crate) async fn add_stock(
    RowInPath(id): RowInPath,
    Write { call, body, context }: Write<Units>,
) -> Result<Reply, Error> {
    let id = ProductId::new(id).map_err(|_| Error::not_found("product"))?;
    let units = input::number("quantity", body.quantity, Stock::new)?;
    let product = call.console.ledger().restock_product(id, units, context).await?;
    Ok(Reply(Answer::fine(&ProductView::from(&product))))
}

/// All products by id.
pub(crate) async fn list(call: Call, uri: Uri) -> Result<Reply, Error> {
    let request = PageQuery::of(&uri)?;
    let page = list::rows(call.console.ledger().products(request).await)?;
    Ok(Reply(list::answer("products", &page, |row| ProductView::from(row))))
}

/// One product.
pub(crate) async fn show(call: Call, RowInPath(id): RowInPath) -> Result<Reply, Error> {
    let id = ProductId::new(id).map_err(|_| Error::not_found("product"))?;
    let product = call.console.ledger().product(id).await?;
    Ok(Reply(Answer::fine(&ProductView::from(&product))))
}
