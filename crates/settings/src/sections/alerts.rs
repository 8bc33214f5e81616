//! Who is told what goes wrong.

use std::time::Duration;

use crate::error::Error;
use crate::reader::Reader;
use crate::secret::Secret;
use crate::sections::webhook_secret;

const URL: &str = "alerts.webhook_url";
const SECRET: &str = "alerts.webhook_secret";

/// Alerts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alerts {
    /// Where they are posted. `None`: they stand in the log alone.
    pub webhook_url: Option<Secret>,
    /// Secret of their signature, base64, with or without its `whsec_`. `None`: they are not signed.
    pub webhook_secret: Option<Secret>,
    /// How long store or database must be down.
    pub down_after: Duration,
    /// Least time between two alerts that the same thing went wrong.
    pub repeat_after: Duration,
}

impl Alerts {
    pub(super) fn narrow(reader: &Reader<'_>) -> Self {
        let alerts = Self {
            webhook_url: reader.get(URL),
            webhook_secret: reader.get(SECRET),
            down_after: reader.get("alerts.down_after"),
            repeat_after: reader.get("alerts.repeat_after"),
        };
        if let Some(url) = &alerts.webhook_url
            && !["http://", "https://"]
                .iter()
                .any(|scheme| url.reveal().starts_with(scheme))
        {
            reader.refuse(Error::Invalid {
                key: URL.to_owned(),
                origin: reader.origin(URL),
                expected: "an https:// address, or an http:// one in your own network".to_owned(),
                found: "what was given".to_owned(),
            });
        }
        if let Some(secret) = &alerts.webhook_secret {
            webhook_secret::check(reader, SECRET, secret);
        } else if alerts.webhook_url.is_some() {
            reader.warn("alerts.webhook_secret is not set: whoever reaches the receiver can make up alerts");
        }
        alerts
    }
}
