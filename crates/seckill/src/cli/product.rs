//! What `seckill product` takes.

use clap::Subcommand;

/// What to do with products.
#[derive(Debug, Subcommand)]
pub(crate) enum ProductCommand {
    /// All products, with the units that no sale holds.
    List,
    /// One product.
    Show {
        /// The product's number.
        id: u64,
    },
    /// Give it more units; `activity add-stock` takes them into a sale.
    AddStock {
        /// The product's number.
        id: u64,
        /// Units to add.
        #[arg(long, value_name = "UNITS")]
        quantity: u64,
    },
}
