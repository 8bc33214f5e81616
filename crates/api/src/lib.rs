//! The public HTTP API: reads requests, asks gate, purchase flow, results and ledger, and words the answers.
//!
//! It decides nothing about a sale, opens no port and names no engine. How a request goes:
//!
//! ```text
//! listener ─▶ Connection (service.rs, answering.rs: request id, language, CORS, counting, panics)
//!                ├─ the three hot routes of router.rs, straight to their handler: buy.rs, result.rs, activities.rs
//!                └─ every other route through axum
//!             ◀─ Answer (answer.rs: envelope, problem+json, Server-Time, X-Request-Id, Retry-After)
//! ```
//!
//! The binary makes one [`Shared`] a process and one [`Api`] a core; the listener asks the latter for one [`Connection`] a client:
//!
//! ```ignore
//! let shared = Shared::new(Parts { .. });
//! listener.serve(move |index| {
//!     let (batcher, claims) = Batcher::new(stock.clone(), pending_max);
//!     tokio::task::spawn_local(batcher.run());
//!     let api = Api::new(CoreState { shared: shared.clone(), purchase: Purchase::new(stock.clone(), claims), index, storefront: None });
//!     move |peer| api.connection(peer.address)
//! });
//! ```

mod activities;
mod activity_view;
mod answer;
mod answering;
mod body;
mod busy;
mod buy;
mod buy_step;
mod cached_page;
mod call;
mod challenge_answer;
mod codes;
mod cors;
mod count;
mod dress;
mod error;
mod events;
mod extract;
mod fault;
mod frames;
mod handshake;
mod headers;
mod health;
mod in_flight;
mod language;
mod legacy;
mod misread;
mod nonces;
mod openapi;
mod order_view;
mod orders;
mod page;
mod path;
mod pending;
mod purchase_form;
mod purchase_token;
mod queued_view;
mod rate_limit;
mod repeated;
mod request_id;
mod result;
mod result_view;
mod router;
mod service;
mod signature_check;
mod signed;
mod socket;
mod state;
mod streams;
mod talk;
mod time;
mod timestamp;
mod unasked;
mod unique;
mod usual;
mod watching;
mod webhook;
mod wording;

pub use answer::Answer;
pub use answering::Answering;
pub use body::Body;
pub use busy::Busy;
pub use buy::IDEMPOTENCY_REPLAYED;
pub use fault::Fault;
pub use health::Readiness;
pub use language::of as language_of;
pub use misread::{Misread, read_object};
pub use page::{DOCS_SCRIPT, DOCS_STYLE};
pub use request_id::of as request_id_of;
pub use router::ROUTES;
pub use service::{Api, Connection};
pub use state::{CoreState, Parts, Polls, Settings, Shared, StreamLimits};
pub use timestamp::rfc3339;
pub use webhook::{SecretError, WebhookSecret};
