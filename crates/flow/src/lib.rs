//! The flows of the product over the contracts of stock, queue and ledger. They name no engine and know nothing of HTTP.
//!
//! `purchase` and `settle` are the main flow, a page each; everything else serves them.

mod pace;
mod purchase;
mod results;
mod settle;
mod worker;

pub use pace::Pace;
pub use purchase::{Purchase, Queued, Wish};
pub use results::{Progress, PurchaseResult, Results, Subscription};
pub use settle::{Pass, Settle, SettleOptions, wait_ms};
pub use worker::{Worker, WorkerCounts, Yielding};
