//! A value of one setting after its form was checked.

use std::net::SocketAddr;
use std::time::Duration;

use ipnet::IpNet;
use serde_json::{Value as Json, json};

use crate::duration;
use crate::rate::RateLimit;
use crate::secret::Secret;
use crate::sections::{AfterEnd, Durability};
use crate::services::{DatabaseText, StoreUrl};

/// A value in its checked form. `Secret(None)` and an empty `Text` say: not set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Address(SocketAddr),
    Text(String),
    Texts(Vec<String>),
    Networks(Vec<IpNet>),
    Secret(Option<Secret>),
    Secrets(Vec<Secret>),
    Whole(u64),
    Duration(Duration),
    Rate(RateLimit),
    Switch(bool),
    Store(StoreUrl),
    Database(DatabaseText),
    AfterEnd(AfterEnd),
    Durability(Durability),
}

impl Value {
    /// The value as it may be shown to anybody. A text of it, typed into a settings file, gives the same value.
    pub(crate) fn shown(&self) -> Json {
        match self {
            Self::Address(address) => json!(address.to_string()),
            Self::Text(text) => json!(text),
            Self::Texts(texts) => json!(texts),
            Self::Networks(nets) => json!(nets.iter().map(ToString::to_string).collect::<Vec<_>>()),
            Self::Secret(None) => json!(""),
            Self::Secret(Some(_)) => json!(Secret::MASK),
            Self::Secrets(secrets) => json!(secrets.iter().map(|_| Secret::MASK).collect::<Vec<_>>()),
            Self::Whole(number) => json!(number),
            Self::Duration(time) => json!(duration::format(*time)),
            Self::Rate(limit) => json!(limit.to_string()),
            Self::Switch(on) => json!(on),
            Self::Store(url) => json!(url.to_string()),
            Self::Database(url) => json!(url.to_string()),
            Self::AfterEnd(policy) => json!(policy.to_string()),
            Self::Durability(durability) => json!(durability.to_string()),
        }
    }
}
