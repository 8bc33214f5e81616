//! Tells a webhook, and the log, what goes wrong: once when it begins and once when it is over.
//!
//! ```text
//! readings, once a second ─▶ Watch (pure: what has changed?) ─▶ Alerts (bounded queue) ─▶ Delivery (a task: signs, posts, tries again)
//! ```
//! Nothing of it is on the path of a request, and nothing waits for the receiver: where he is slow or gone, alerts wait in a bounded queue,
//! and one too many is dropped and stands in the log alone. A message is sent again under the same id until the receiver has it, so he may
//! get it twice. It knows nothing of stores and databases: whoever watches them says how they are.

mod alert;
mod delivery;
mod endpoint;
mod message;
mod posting;
mod tls;
mod watch;

pub use alert::{Alert, Kind, Reading, Turn};
pub use delivery::{ATTEMPTS_MAX, Alerts, Delivery, QUEUE_MAX, Target, Waits, alerts};
pub use endpoint::{Endpoint, EndpointError};
pub use message::{SigningKey, SigningKeyError};
pub use tls::{Tls, TlsError};
pub use watch::{Rules, Watch};
