//! How the sections take their values: by name, in the type they need. It also gathers what they find wrong or risky.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;

use crate::effective::Effective;
use crate::error::{Error, Origin};
use crate::rate::RateLimit;
use crate::secret::Secret;
use crate::sections::{AfterEnd, Durability};
use crate::services::{DatabaseText, StoreUrl};
use crate::value::Value;

/// Values by name.
pub(crate) struct Reader<'a> {
    effective: &'a Effective,
    taken: RefCell<BTreeSet<String>>,
    errors: RefCell<Vec<Error>>,
    warnings: RefCell<Vec<String>>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(effective: &'a Effective) -> Self {
        Self {
            effective,
            taken: RefCell::default(),
            errors: RefCell::default(),
            warnings: RefCell::default(),
        }
    }

    /// The value of a known key. That the default file gives it the kind its reader takes holds for every value, so a test of
    /// the defaults proves it.
    pub(crate) fn get<T: Take>(&self, name: &str) -> T {
        self.taken.borrow_mut().insert(name.to_owned());
        T::take(&self.effective.entry(name).value).unwrap_or_else(|| panic!("{name} has the kind its reader takes"))
    }

    /// A text, where it is not empty.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        Some(self.get::<String>(name)).filter(|text| !text.is_empty())
    }

    pub(crate) fn origin(&self, name: &str) -> Origin {
        self.effective.entry(name).origin.clone()
    }

    pub(crate) fn warn(&self, warning: impl Into<String>) {
        self.warnings.borrow_mut().push(warning.into());
    }

    pub(crate) fn refuse(&self, error: Error) {
        self.errors.borrow_mut().push(error);
    }

    pub(crate) fn weak(&self, name: &str, reason: &'static str) {
        self.refuse(Error::Weak {
            key: name.to_owned(),
            origin: self.origin(name),
            reason,
        });
    }

    pub(crate) fn conflict(&self, name: &str, other: &str, reason: &'static str) {
        self.refuse(Error::Conflict {
            key: name.to_owned(),
            origin: self.origin(name),
            other: format!("{other} ({})", self.origin(other)),
            reason,
        });
    }

    pub(crate) fn into_findings(self) -> (Vec<Error>, Vec<String>) {
        (self.errors.into_inner(), self.warnings.into_inner())
    }

    #[cfg(test)]
    pub(crate) fn taken(&self) -> BTreeSet<String> {
        self.taken.borrow().clone()
    }
}

/// A type that a section can take.
pub(crate) trait Take: Sized {
    fn take(value: &Value) -> Option<Self>;
}

macro_rules! take {
    ($($type:ty, $pattern:pat => $taken:expr;)*) => {$(
        impl Take for $type {
            fn take(value: &Value) -> Option<Self> {
                match value {
                    $pattern => $taken,
                    _ => None,
                }
            }
        }
    )*};
}

take! {
    SocketAddr, Value::Address(address) => Some(*address);
    String, Value::Text(text) => Some(text.clone());
    PathBuf, Value::Text(text) => Some(Self::from(text));
    Vec<String>, Value::Texts(texts) => Some(texts.clone());
    Vec<IpNet>, Value::Networks(networks) => Some(networks.clone());
    Option<Secret>, Value::Secret(secret) => Some(secret.clone());
    Vec<Secret>, Value::Secrets(secrets) => Some(secrets.clone());
    u64, Value::Whole(number) => Some(*number);
    u8, Value::Whole(number) => Self::try_from(*number).ok();
    u32, Value::Whole(number) => Self::try_from(*number).ok();
    usize, Value::Whole(number) => Self::try_from(*number).ok();
    Duration, Value::Duration(time) => Some(*time);
    RateLimit, Value::Rate(limit) => Some(*limit);
    bool, Value::Switch(on) => Some(*on);
    StoreUrl, Value::Store(url) => Some(url.clone());
    DatabaseText, Value::Database(url) => Some(url.clone());
    AfterEnd, Value::AfterEnd(policy) => Some(*policy);
    Durability, Value::Durability(durability) => Some(*durability);
}
