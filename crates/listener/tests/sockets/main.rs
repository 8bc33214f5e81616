//! The listener over real sockets on loopback. Limits are short and the tests wait for what the
//! client sees, never for a time to pass.

mod caps;
mod client;
mod deadlines;
mod heads;
mod keep_alive;
mod router;
mod shutdown;
mod start;
mod upgrade;
