//! The router over a real store and a real database, with a clock that moves only when told to.

mod access;
mod books;
mod errors;
mod house;
mod idempotency;
mod input;
mod night;
mod sales;
