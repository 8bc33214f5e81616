//! The device that a client says it is. A hint, not a proof: anybody can make one up, so it only ever narrows what its sender may do.

use http::HeaderMap;
use http::header::HeaderName;

use crate::headers::{Headers, Sent};

/// Header that names the device.
pub const DEVICE_HEADER: HeaderName = HeaderName::from_static("x-device-id");

/// A well-formed device name: 1 to 128 characters of `A-Z a-z 0-9 . _ : -`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Device<'a>(&'a str);

impl<'a> Device<'a> {
    /// Longest name, in characters.
    pub const LENGTH_MAX: usize = 128;

    /// Checks length and alphabet.
    #[must_use]
    pub fn new(text: &'a str) -> Option<Self> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._:-".contains(&b);
        let fine = (1..=Self::LENGTH_MAX).contains(&text.len()) && text.bytes().all(allowed);
        fine.then_some(Self(text))
    }

    /// The device of a request. A missing, doubled or ill-formed header is no device: the user's limit holds anyway.
    #[must_use]
    pub fn of(headers: &'a HeaderMap) -> Option<Self> {
        Self::named(Headers::of(headers).device)
    }

    pub(crate) fn named(header: Sent<'a>) -> Option<Self> {
        header.once()?.to_str().ok().and_then(Self::new)
    }

    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'a str {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ill_formed_devices_are_none() {
        for bad in ["", "a b", "a/b", "ü", &"x".repeat(129)] {
            assert_eq!(Device::new(bad), None, "{bad:?}");
        }
        assert_eq!(Device::new("ios:1-2_3.4").map(Device::as_str), Some("ios:1-2_3.4"));
    }
}
