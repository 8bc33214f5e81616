//! What errors of the server and of the way to it mean.
//!
//! ```text
//! the server says                          means                              the caller hears
//! OOM                                      full                               StoreFull, nothing changed
//! READONLY, MASTERDOWN                     it does not lead any more          StoreReadOnly, nothing changed; a leader is looked for
//! NOREPLICAS, MISCONF                      it may not write now               StoreReadOnly, nothing changed
//! LOADING, BUSY                            it has just started, or is at it   Unavailable, nothing changed
//! CLUSTERDOWN                              nobody has the slot                Unavailable, nothing changed; a leader is looked for
//! MOVED, ASK, TRYAGAIN                     the slot is elsewhere, on its way  followed (`link/route.rs`); in the end Unavailable, nothing changed
//! NOSCRIPT                                 it has forgotten the script        nothing: the whole text is sent on the same connection
//! NOPERM, WRONGTYPE, ERR …                 a right is missing, or a bug       StoreUnsafe, nothing changed, logged
//! nothing: refused before it was sent      nobody is there                    Unavailable, nothing changed
//! nothing: lost, or not in time            it may have been done              OutcomeUnknown
//! ```
//! "Nothing changed" holds because a script is refused before it begins, or stops in its checks: its writes come last and cannot fail.

use redis::RedisError;
use seckill_sale::NotReady;

/// Why the engine did not do what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The server cannot be reached or takes nothing now; nothing was changed.
    #[error("the store cannot be reached; nothing was changed")]
    Unavailable,
    /// The reply was lost: it may or may not have been done.
    #[error("the store's reply was lost; the outcome is not known")]
    OutcomeUnknown,
    /// It cannot be done now, for this reason; nothing was changed.
    #[error("the store cannot do it now: {}", .0.as_str())]
    NotReady(NotReady),
}

impl From<&RedisError> for Error {
    /// An error that the server itself names was raised before the first write. Everything else means that the outcome is not known,
    /// but for a connection that was refused.
    fn from(error: &RedisError) -> Self {
        match error.code() {
            Some("OOM") => Self::NotReady(NotReady::StoreFull),
            Some("MISCONF" | "READONLY" | "NOREPLICAS" | "MASTERDOWN") => Self::NotReady(NotReady::StoreReadOnly),
            Some("LOADING" | "BUSY" | "TRYAGAIN" | "CLUSTERDOWN" | "MOVED" | "ASK") => Self::Unavailable,
            Some(_) => {
                tracing::error!(%error, "the store refused a script or command");
                Self::NotReady(NotReady::StoreUnsafe)
            }
            None if error.is_connection_refusal() => Self::Unavailable,
            None => Self::OutcomeUnknown,
        }
    }
}

impl From<Error> for seckill_stock::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Unavailable => Self::Unavailable,
            Error::OutcomeUnknown => Self::OutcomeUnknown,
            Error::NotReady(reason) => Self::NotReady(reason),
        }
    }
}

impl From<Error> for seckill_queue::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Unavailable | Error::NotReady(_) => Self::Unavailable,
            Error::OutcomeUnknown => Self::OutcomeUnknown,
        }
    }
}
