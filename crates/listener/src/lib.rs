//! The product's own HTTP/1.1 accept loop on per-core runtimes.
//!
//! One thread accepts and hands each connection to the least loaded of several `current_thread`
//! runtimes. Every connection runs under the deadlines and caps of [`Limits`]; none of them costs a
//! timer per request: each core sweeps its connections a few times a second.
//!
//! It knows nothing of routes, tokens or sales, and it speaks neither TLS nor HTTP/2: a proxy in
//! front does. What it answers by itself (400, 408, 431) is worded by the caller's
//! [`ErrorAnswers`].

mod accept;
mod admission;
mod answer;
mod bind;
mod body;
mod chunks;
mod connection;
mod core_loop;
mod counts;
mod deadlines;
mod descriptors;
mod error;
mod full;
mod handle;
pub mod hello;
mod io;
mod limits;
mod own_error;
mod peer;
mod phase;
mod request_check;
mod server;
mod tape;
mod troubles;
mod waker_slot;
mod watch;

pub use answer::{ErrorAnswers, bare_error_answers};
pub use bind::{BACKLOG_DEFAULT, Listener};
pub use body::{Body, BodyTimeout, is_body_timeout};
pub use counts::Counts;
pub use descriptors::raise_descriptor_limit;
pub use error::Error;
pub use full::WhenFull;
pub use handle::ServerHandle;
pub use limits::Limits;
pub use peer::{Peer, WithPeer};
pub use server::Server;
