//! What can go wrong while measuring. A refusal by the server is no error: it is an outcome and gets counted.

use std::path::PathBuf;

/// Why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused something.
    #[error("{what}")]
    Io {
        /// What was being done.
        what: String,
        /// The system's own reason.
        source: std::io::Error,
    },
    /// The server could be reached, but answered something that this step can't go on with.
    #[error("{what}: answered {status}: {body}")]
    Answer {
        /// What was asked for.
        what: String,
        /// HTTP status.
        status: u16,
        /// The beginning of the body.
        body: String,
    },
    /// Bytes that are no HTTP/1.1 answer, or JSON without the expected members.
    #[error("{what}: the answer can't be read")]
    Malformed {
        /// What was asked for.
        what: String,
    },
    /// A child process ended early or never became ready.
    #[error("{what}; the end of its log:\n{log_tail}")]
    Child {
        /// What happened.
        what: String,
        /// The last lines that the child wrote.
        log_tail: String,
    },
    /// Something did not happen within its limit.
    #[error("{what} within {limit_s} s")]
    TooLate {
        /// What was waited for.
        what: String,
        /// The limit, in seconds.
        limit_s: u64,
    },
    /// A Redis server can't be reached, or refuses.
    #[error("{what}")]
    Store {
        /// What was asked.
        what: String,
        /// The client's own reason.
        source: redis::RedisError,
    },
    /// A plan that makes no sense: zero connections, an address that is none, figures that are not positive.
    #[error("{0}")]
    Usage(String),
}

impl Error {
    /// Wraps an I/O error with what was being done.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    /// The same for a Redis server.
    pub(crate) fn store(what: impl Into<String>) -> impl FnOnce(redis::RedisError) -> Self {
        let what = what.into();
        move |source| Self::Store { what, source }
    }

    /// The same for a file, naming its path.
    pub(crate) fn file(what: &str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        Self::io(format!("{what} {}", path.into().display()))
    }

    /// Whether nobody listens at the address.
    pub fn is_refused(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == std::io::ErrorKind::ConnectionRefused)
    }

    /// Whether the server could not be reached at all (exit code 4 of the commands).
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::Io { source, .. } => matches!(
                source.kind(),
                std::io::ErrorKind::ConnectionRefused | std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock
            ),
            Self::Store { source, .. } => source.is_connection_refusal() || source.is_timeout(),
            _ => false,
        }
    }
}
