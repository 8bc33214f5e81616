//! The headers that the gate reads, found in one pass: a look-up by name hashes it, and of most requests each finds
//! nothing. The API finds its own ones in a pass before: which headers make an identity is nobody's business but the gate's.

use http::{HeaderMap, HeaderValue};

/// How often a header was sent that counts only where it stands once.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Sent<'a> {
    #[default]
    Never,
    Once(&'a HeaderValue),
    Often,
}

impl<'a> Sent<'a> {
    fn again(self, value: &'a HeaderValue) -> Self {
        match self {
            Self::Never => Self::Once(value),
            Self::Once(_) | Self::Often => Self::Often,
        }
    }

    /// Its value, where it was sent exactly once.
    pub(crate) const fn once(self) -> Option<&'a HeaderValue> {
        match self {
            Self::Once(value) => Some(value),
            Self::Never | Self::Often => None,
        }
    }

    pub(crate) const fn is_there(self) -> bool {
        !matches!(self, Self::Never)
    }
}

/// What the gate reads of a request's headers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Headers<'a> {
    pub(crate) authorization: Sent<'a>,
    /// [`crate::USER_HEADER`].
    pub(crate) user: Sent<'a>,
    /// [`crate::DEVICE_HEADER`].
    pub(crate) device: Sent<'a>,
}

impl<'a> Headers<'a> {
    pub(crate) fn of(all: &'a HeaderMap) -> Self {
        let mut headers = Self::default();
        for (name, value) in all {
            let header = match name.as_str() {
                "authorization" => &mut headers.authorization,
                "x-user-id" => &mut headers.user,
                "x-device-id" => &mut headers.device,
                _ => continue,
            };
            *header = header.again(value);
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use http::header::AUTHORIZATION;

    use super::*;
    use crate::{DEVICE_HEADER, USER_HEADER};

    #[test]
    fn headers_are_found_by_their_names_and_counted() {
        let mut all = HeaderMap::new();
        all.append(AUTHORIZATION, HeaderValue::from_static("a"));
        all.append("accept", HeaderValue::from_static("b"));
        all.append(DEVICE_HEADER, HeaderValue::from_static("c"));
        all.append(DEVICE_HEADER, HeaderValue::from_static("c"));
        let headers = Headers::of(&all);
        assert_eq!(headers.authorization.once(), Some(&HeaderValue::from_static("a")));
        assert!(!headers.user.is_there());
        assert!(headers.device.is_there() && headers.device.once().is_none());
        all.append(USER_HEADER, HeaderValue::from_static("d"));
        assert_eq!(Headers::of(&all).user.once(), Some(&HeaderValue::from_static("d")));
    }
}
