//! The gate as a whole, seen by its caller.

mod challenge;
mod charges;
mod identity;
mod keys;
mod limits;
mod limits_together;
mod offenders;
mod order;
mod routes;
mod support;

// The sample activity of the unit tests.
#[path = "../../src/testing.rs"]
mod testing;
