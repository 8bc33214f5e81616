//! The gate as a whole, seen by its caller.

mod identity;
mod keys;
mod limits;
mod order;
mod routes;
mod support;

// The sample activity of the unit tests.
#[path = "../../src/testing.rs"]
mod testing;
