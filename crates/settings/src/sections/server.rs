//! The two listeners and the log.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::Duration;

use ipnet::IpNet;

use crate::reader::Reader;
use crate::secret::Secret;
use crate::weak;

/// Idle connections are promised to live this long.
const IDLE_PROMISED: Duration = Duration::from_secs(30);

/// The public port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Address under which buyers come, without trailing slash; absolute links are made from it.
    pub public_url: Option<String>,
    /// Origins whose pages may call the API.
    pub allowed_origins: Vec<String>,
    /// Networks whose forwarding headers are believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Runtimes, at least one; "all processors" is resolved already.
    pub cores: NonZeroUsize,
    /// Open connections from one address.
    pub connections_per_ip: usize,
    /// Open connections altogether.
    pub connections_max: usize,
    /// Purchases under way at once.
    pub in_flight_max: usize,
    /// Connections that wait in the kernel to be accepted.
    pub accept_backlog: u32,
    /// Silence before the first byte.
    pub first_byte_timeout: Duration,
    /// From the first byte of a head to its last.
    pub header_timeout: Duration,
    /// From the head to the last byte of the body.
    pub body_timeout: Duration,
    /// How long an answer may stay unread.
    pub write_timeout: Duration,
    /// Silence between two requests.
    pub idle_timeout: Duration,
    /// Bytes of a head.
    pub header_bytes_max: usize,
    /// Header lines.
    pub headers_max: usize,
    /// Bytes of a body.
    pub body_bytes_max: usize,
    /// How long a stopping server goes on answering.
    pub shutdown_grace: Duration,
}

impl Server {
    pub(super) fn narrow(reader: &Reader<'_>) -> Self {
        let server = Self {
            listen: reader.get("server.listen"),
            public_url: reader.text("server.public_url"),
            allowed_origins: reader.get("server.allowed_origins"),
            trusted_proxies: reader.get("server.trusted_proxies"),
            cores: cores(reader.get("server.cores")),
            connections_per_ip: reader.get("server.connections_per_ip"),
            connections_max: reader.get("server.connections_max"),
            in_flight_max: reader.get("server.in_flight_max"),
            accept_backlog: reader.get("server.accept_backlog"),
            first_byte_timeout: reader.get("server.first_byte_timeout"),
            header_timeout: reader.get("server.header_timeout"),
            body_timeout: reader.get("server.body_timeout"),
            write_timeout: reader.get("server.write_timeout"),
            idle_timeout: reader.get("server.idle_timeout"),
            header_bytes_max: reader.get("server.header_bytes_max"),
            headers_max: reader.get("server.headers_max"),
            body_bytes_max: reader.get("server.body_bytes_max"),
            shutdown_grace: reader.get("server.shutdown_grace"),
        };
        server.warn(reader);
        server
    }

    fn warn(&self, reader: &Reader<'_>) {
        if self.trusted_proxies.iter().any(|network| network.prefix_len() == 0) {
            reader.warn(
                "server.trusted_proxies trusts every address: anybody can choose the address he is counted under",
            );
        }
        if self.idle_timeout < IDLE_PROMISED {
            reader.warn(
                "server.idle_timeout is below 30 s: a connection opened ahead of a sale is closed before its start",
            );
        }
        if self.connections_per_ip > self.connections_max {
            reader.warn(
                "server.connections_per_ip is above server.connections_max: one machine can take every connection",
            );
        }
    }
}

fn cores(typed: usize) -> NonZeroUsize {
    let all = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    NonZeroUsize::new(typed).unwrap_or_else(all)
}

/// The admin port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admin {
    /// Address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Token, 32 characters or more. `None`: the one kept in the data folder, made at the first start.
    pub token: Option<Secret>,
}

impl Admin {
    pub(super) fn narrow(reader: &Reader<'_>, server: &Server) -> Self {
        let admin = Self {
            listen: reader.get("admin.listen"),
            token: reader.get("admin.token"),
        };
        if admin.listen == server.listen && admin.listen.port() != 0 {
            reader.conflict(
                "admin.listen",
                "server.listen",
                "the console must not answer on the public port",
            );
        }
        if let Some(reason) = admin.token.as_ref().and_then(|token| weak::reason(token.reveal())) {
            reader.weak("admin.token", reason);
        }
        if !admin.listen.ip().is_loopback() {
            let listen = admin.listen;
            reader.warn(format!(
                "admin.listen {listen} can be reached from outside: /metrics and /readyz need no token there"
            ));
        }
        admin
    }
}

/// Log lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Form of a line.
    pub format: LogFormat,
    /// `off`, `error`, `warn`, `info`, `debug` or `trace`.
    pub level: String,
}

/// Form of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Text where stderr is a terminal, JSON elsewhere.
    Auto,
    /// One JSON object a line.
    Json,
    /// For people.
    Text,
}

impl Log {
    pub(super) fn narrow(reader: &Reader<'_>) -> Self {
        let format = match reader.get::<String>("log.format").as_str() {
            "json" => LogFormat::Json,
            "text" => LogFormat::Text,
            _ => LogFormat::Auto,
        };
        Self {
            format,
            level: reader.get("log.level"),
        }
    }
}
