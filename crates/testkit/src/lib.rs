//! Fixtures for black-box tests: the real binary as a child process on free loopback ports in a temporary folder, and what is needed to
//! speak with it. It links none of the product's crates; what it says comes from outside.

mod certificates;
mod database;
mod http;
mod live;
mod mariadb;
mod needle;
mod own;
mod ports;
mod postgres;
mod processes;
mod proxy;
mod redis;
mod server;
mod shared;
mod shop;
mod standing;
mod token;
mod waiting;
mod wire;
mod work;

pub use certificates::Certified;
pub use database::{Database, Held};
pub use http::{Answer, call, text};
pub use live::Live;
pub use mariadb::{MariaDb, MariaDbServer};
pub use ports::free_address;
pub use postgres::{Postgres, PostgresServer};
pub use proxy::{Network, Proxy};
pub use redis::{Redis, RedisCluster, RedisSentinel, RedisTls, SharedCluster, SharedSentinel};
pub use server::{Program, Server};
pub use shared::Kind;
pub use token::{signed, token};
pub use wire::Wire;
pub use work::work;
