//! What a setting takes: the `#:` line of the default file, read once, then used for checking, for error messages and for the schema.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use ipnet::IpNet;

use crate::secret::Secret;
use crate::sections::{AfterEnd, Durability, durability};
use crate::services::{self, DatabaseText, StoreUrl};
use crate::value::Value;
use crate::{duration, public_key, rate};

/// Entries in one list. Every one is compared on each request, so a list is not a database.
const LIST_MAX: usize = 1_000;

/// The kinds of values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Address,
    Path,
    Text,
    Url,
    Origins,
    Networks,
    Texts,
    Secret,
    Secrets,
    Pem,
    Whole { min: u64, max: u64 },
    Duration { min: Duration, max: Duration },
    Rate,
    Switch,
    Choice(Vec<&'static str>),
    Store,
    Database,
    AfterEnd,
    Durability,
}

impl Kind {
    /// Reads what stands behind `#:`.
    pub(crate) fn parse(annotation: &'static str) -> Option<Self> {
        let (name, rest) = annotation.trim().split_once(' ').unwrap_or((annotation.trim(), ""));
        let bounds = || rest.split_once("..");
        Some(match name {
            "address" => Self::Address,
            "path" => Self::Path,
            "text" => Self::Text,
            "url" => Self::Url,
            "origins" => Self::Origins,
            "networks" => Self::Networks,
            "texts" => Self::Texts,
            "secret" => Self::Secret,
            "secrets" => Self::Secrets,
            "pem" => Self::Pem,
            "rate" => Self::Rate,
            "switch" => Self::Switch,
            "store" => Self::Store,
            "database" => Self::Database,
            "after_end" => Self::AfterEnd,
            "durability" => Self::Durability,
            "choice" => Self::Choice(rest.split('|').map(str::trim).collect()),
            "whole" => bounds().and_then(|(min, max)| {
                Some(Self::Whole {
                    min: min.parse().ok()?,
                    max: max.parse().ok()?,
                })
            })?,
            "duration" => bounds().and_then(|(min, max)| {
                Some(Self::Duration {
                    min: duration::parse(min)?,
                    max: duration::parse(max)?,
                })
            })?,
            _ => return None,
        })
    }

    /// What the setting takes, to be read behind "must be".
    pub(crate) fn expected(&self) -> String {
        match self {
            Self::Address => "an address with port, such as \"127.0.0.1:8080\"".to_owned(),
            Self::Path => "a path".to_owned(),
            Self::Text | Self::Secret => "a text".to_owned(),
            Self::Texts | Self::Secrets => "a list of texts".to_owned(),
            Self::Url => "an http:// or https:// address without path, such as \"https://shop.example.com\"".to_owned(),
            Self::Origins => "a list of web origins, such as \"https://shop.example.com\"".to_owned(),
            Self::Networks => "a list of networks, such as \"10.0.0.0/8\"".to_owned(),
            Self::Pem => public_key::EXPECTED.to_owned(),
            Self::Whole { min, max } => format!("a whole number from {min} to {max}"),
            Self::Duration { min, max } => {
                format!(
                    "a duration from {} to {}, such as \"15m\" or \"500ms\"",
                    duration::format(*min),
                    duration::format(*max)
                )
            }
            Self::Rate => rate::EXPECTED.to_owned(),
            Self::Switch => "true or false".to_owned(),
            Self::Choice(names) => names
                .iter()
                .map(|name| format!("\"{name}\""))
                .collect::<Vec<_>>()
                .join(" or "),
            Self::Store => services::STORE_EXPECTED.to_owned(),
            Self::Database => services::DATABASE_EXPECTED.to_owned(),
            Self::AfterEnd => "\"keep\" or \"discard after 24h\"".to_owned(),
            Self::Durability => durability::EXPECTED.to_owned(),
        }
    }

    /// Whether the value may hold a secret: it can be read from a file and errors don't repeat it.
    pub(crate) fn is_confidential(&self) -> bool {
        matches!(
            self,
            Self::Secret | Self::Secrets | Self::Pem | Self::Store | Self::Database
        )
    }

    /// Whether the value is a list.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self, Self::Origins | Self::Networks | Self::Texts | Self::Secrets)
    }

    /// A value out of a settings file, where types are told apart.
    pub(crate) fn read_toml(&self, typed: &toml::Value) -> Option<Value> {
        match (self, typed) {
            (Self::Whole { .. }, toml::Value::Integer(number)) => self.whole(u64::try_from(*number).ok()?),
            (Self::Switch, toml::Value::Boolean(on)) => Some(Value::Switch(*on)),
            (Self::Whole { .. } | Self::Switch, _) => None,
            (_, toml::Value::Array(items)) if self.is_list() => {
                self.list(items.iter().map(toml::Value::as_str).collect::<Option<Vec<_>>>()?)
            }
            (_, toml::Value::String(text)) if !self.is_list() => self.read_text(text),
            _ => None,
        }
    }

    /// A value out of the environment or a flag, where everything is text.
    pub(crate) fn read_text(&self, text: &str) -> Option<Value> {
        match self {
            Self::Address => text.parse::<SocketAddr>().ok().map(Value::Address),
            Self::Path => (!text.is_empty() && !text.contains('\0')).then(|| Value::Text(text.to_owned())),
            Self::Text => Some(Value::Text(text.to_owned())),
            Self::Url => {
                let text = text.trim_end_matches('/');
                (text.is_empty() || is_origin(text)).then(|| Value::Text(text.to_owned()))
            }
            Self::Secret => Some(Value::Secret((!text.is_empty()).then(|| Secret::new(text)))),
            Self::Pem => {
                let pem = public_key::with_lines(text);
                (pem.is_empty() || public_key::algorithm(&pem).is_some()).then_some(Value::Text(pem))
            }
            Self::Whole { .. } => {
                let digits_only = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
                digits_only
                    .then(|| text.replace('_', "").parse().ok())
                    .flatten()
                    .and_then(|number| self.whole(number))
            }
            Self::Duration { min, max } => duration::parse(text)
                .filter(|time| min <= time && time <= max)
                .map(Value::Duration),
            Self::Rate => text.parse().ok().map(Value::Rate),
            Self::Switch => text.parse().ok().map(Value::Switch),
            Self::Choice(names) => names.contains(&text).then(|| Value::Text(text.to_owned())),
            Self::Store => StoreUrl::parse(text).map(Value::Store),
            Self::Database => DatabaseText::parse(text).map(Value::Database),
            Self::AfterEnd => AfterEnd::parse(text).map(Value::AfterEnd),
            Self::Durability => Durability::parse(text).map(Value::Durability),
            // A file of secrets has one a line.
            Self::Origins | Self::Networks | Self::Texts | Self::Secrets => {
                let items = text.split([',', '\n']).map(str::trim);
                self.list(items.filter(|item| !item.is_empty()).collect())
            }
        }
    }

    fn whole(&self, number: u64) -> Option<Value> {
        matches!(self, Self::Whole { min, max } if (*min..=*max).contains(&number)).then_some(Value::Whole(number))
    }

    fn list(&self, items: Vec<&str>) -> Option<Value> {
        if items.len() > LIST_MAX {
            return None;
        }
        match self {
            Self::Networks => items
                .into_iter()
                .map(network)
                .collect::<Option<Vec<_>>>()
                .map(Value::Networks),
            Self::Texts => Some(Value::Texts(items.into_iter().map(str::to_owned).collect())),
            Self::Secrets => Some(Value::Secrets(items.into_iter().map(Secret::new).collect())),
            _ => items
                .iter()
                .all(|item| is_origin(item))
                .then(|| Value::Texts(items.iter().map(ToString::to_string).collect())),
        }
    }
}

/// A network, or a single address as the network of itself. Host bits are cut off, so that what is shown is what is compared.
fn network(text: &str) -> Option<IpNet> {
    text.parse::<IpNet>()
        .ok()
        .or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
        .map(|net| net.trunc())
}

/// Scheme, host and optional port, in the form in which browsers send it: lower case, no path, no wildcard.
fn is_origin(text: &str) -> bool {
    let host = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"))
        .unwrap_or_default();
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b':' | b'[' | b']');
    !host.is_empty() && host.bytes().all(allowed)
}

#[cfg(test)]
#[path = "kind_tests.rs"]
mod tests;
