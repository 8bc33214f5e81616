//! What was typed, narrowed at start-up to what each part of the server needs.
//!
//! Values come from the compiled-in `seckill.default.toml`, a settings file, the environment and flags, the later wins.
//! [`Settings::load`] turns them into plain structs; a part of the server takes its own struct and never sees a key's name.
//! This crate opens no socket and does not decide which store or database is built in: it only says what was asked for.
//!
//! A new key is added in two places: the default file, whose `#:` line says what the key takes, and the struct that reads it.

mod duration;
mod effective;
mod error;
mod gather;
mod kind;
mod nearest;
mod public_key;
mod rate;
mod reader;
mod schema;
mod secret;
mod sections;
mod services;
mod sources;
mod table;
mod value;
mod weak;

pub use duration::parse as parse_duration;
pub use effective::Effective;
pub use error::{Error, Origin};
pub use ipnet::IpNet;
pub use public_key::PublicAlgorithm;
pub use rate::{Rate, RateLimit};
pub use schema::schema;
pub use secret::Secret;
pub use sections::{
    Abuse, Admin, AfterEnd, Alerts, Auth, AuthMode, Client, Database, DeadLetters, DeviceRule, Durability, Identity,
    JwtKey, KeyFile, Limits, Log, LogFormat, OnCancel, Orders, Payments, Polls, PublicKey, Queue, RateLimiting,
    Schedule, Server, Settings, Store, Streams, Units,
};
pub use services::{DatabaseUrl, ServiceUrl, StoreUrl};
pub use sources::{SettingsFile, Sources};

/// The commented default file, as it is compiled in; `seckill config print --default` may show it.
pub const DEFAULT_FILE: &str = include_str!("../seckill.default.toml");
