//! Fixtures for black-box tests: the real binary as a child process on free loopback ports in a temporary folder, and what is needed to
//! speak with it. It links none of the product's crates; what it says comes from outside.

mod eater;
mod http;
mod redis;
mod server;
mod token;

pub use eater::Eater;
pub use http::{Answer, call, text};
pub use redis::Redis;
pub use server::{Program, Server};
pub use token::token;
