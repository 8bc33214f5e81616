//! The flows of the product over the contracts of stock, queue and ledger. They name no engine and know nothing of HTTP.
//!
//! `purchase` and `settle` are the main flow, a page each; everything else serves them.

mod adopt;
mod apart;
mod asked;
mod audit;
mod brake;
mod catalogue;
mod close;
mod dead_letters;
mod epochs;
mod expire;
mod halfway;
mod heal;
mod held;
mod hub;
mod instead;
mod known;
mod loss;
mod movements;
mod operator;
mod orders;
mod pace;
mod planned_step;
mod preheat;
mod purchase;
mod reconcile;
mod recover;
mod renew;
mod results;
mod retried;
mod schedule;
mod settle;
mod settle_alone;
mod strays;
mod worker;
mod worker_counts;

pub use apart::{Apart, apart, older};
pub use audit::Audit;
pub use catalogue::live_activities;
pub use close::Closing;
pub use dead_letters::DeadLettersAfterEnd;
pub use expire::{BATCHES_A_SWEEP, ORDERS_A_BATCH, Swept};
pub use instead::SEQUENCES_AN_EPOCH;
pub use operator::{Error, Layers, Operator, OperatorSettings};
pub use pace::{Pace, wait_ms};
pub use planned_step::PlannedStep;
pub use preheat::Preheated;
pub use purchase::{Purchase, Queued, Wish};
pub use reconcile::{DIFFERENCES_MAX, Difference, DifferenceKind, Fix, Report};
pub use recover::Recovered;
pub use results::{Progress, PurchaseResult, Results, Subscription};
pub use schedule::{Failure, Occurrences, OccurrencesError, Part, ROUNDS_A_TICK, Scheduler, SchedulerSettings, Ticked};
pub use settle::{Pass, Settle, SettleOptions};
pub use worker::{Worker, Yielding};
pub use worker_counts::WorkerCounts;
