//! The operator's HTTP API on the admin port, and the plain page at `/`.
//!
//! It words requests for the operator's procedures in `flow` and shows what ledger, store and gate say. It decides nothing about a sale,
//! opens no port and names no engine. How a request goes:
//!
//! ```text
//! listener ─▶ Connection (peer's address) ─▶ outer.rs (request id, panics, counting, headers)
//!                                              └─ router.rs ─▶ auth.rs (token, foreign origin) ─▶ handler
//!          ◀─ outer.rs (envelope, problem+json, Server-Time, X-Request-Id) ◀─ Reply
//! ```
//!
//! A handler gets a `Call` or a `Write`, which only a request with the operator's token has.
//!
//! The binary makes one [`Console`] a process, has [`Console::refresh`] called at the start and about once a second (what other nodes set
//! is known here by it), and gives the listener one [`Connection`] a client:
//!
//! ```ignore
//! let console = Console::new(Parts { .. });
//! let router = seckill_console::router(console.clone());
//! listener.serve(move |_core| { let router = router.clone(); move |peer| Connection::new(router.clone(), peer.address.ip()) });
//! ```

mod actions;
mod activities;
mod audit;
mod auth;
mod blocks;
mod call;
mod check;
mod checklist;
mod dead_letters;
mod eligibility;
mod error;
mod health;
mod house_views;
mod input;
mod list;
mod live;
mod made;
mod offer;
mod orders;
mod origin;
mod outer;
mod page;
mod penalties;
mod precheck;
mod products;
mod recover;
mod router;
mod schedules;
mod service;
mod state;
mod switches;
mod views;
mod write;

pub use auth::{AdminToken, WeakToken};
pub use check::{Check, CheckState, HouseChecks};
pub use live::Live;
pub use precheck::{Misfit, precheck, precheck_list, precheck_moment, precheck_switches};
pub use router::{ROUTES, router};
pub use service::Connection;
pub use state::{Console, Parts, Settings};
