//! The gate as a whole, seen by its caller.

mod identity;
mod order;
mod routes;
mod support;
