//! Why a listener could not be started or did not end well. Troubles of single connections are not
//! errors of the listener: they are counted in [`crate::Counts`].

use std::io;
use std::net::SocketAddr;

/// Why a listener could not be started or did not end well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another socket listens there already; most often a second process of the same service.
    #[error("{address}: address in use by another process")]
    AddressInUse {
        /// The address asked for.
        address: SocketAddr,
    },
    /// The address can't be listened on, for any other reason.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A limit has a value with which no connection could be served.
    #[error("limit `{name}` {reason}")]
    Limit {
        /// The field of [`crate::Limits`].
        name: &'static str,
        /// What is wrong with its value.
        reason: &'static str,
    },
    /// A thread or its runtime could not be started.
    #[error("cannot start thread `{thread}`")]
    Start {
        /// The thread's name.
        thread: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A thread of the listener panicked: a bug.
    #[error("thread `{thread}` panicked")]
    Panicked {
        /// The thread's name.
        thread: String,
    },
    /// The descriptor limit of the process can't be read or raised.
    #[error("cannot raise the limit of open descriptors")]
    Descriptors(#[source] io::Error),
}
