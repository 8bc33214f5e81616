//! The listening socket and the options that every accepted connection inherits from it.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

use crate::Error;

/// Connections that the kernel holds for us while the accept thread is busy, where nothing else is set.
pub const BACKLOG_DEFAULT: u32 = 4_096;
/// Kernel memory that one client which doesn't read can pin down, in bytes (the kernel doubles it).
const SEND_BUFFER_BYTES: usize = 256 * 1024;
/// A peer that vanished is given up when sent bytes stay unacknowledged this long; otherwise a
/// silent stream to it would live for a quarter of an hour.
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(30);

/// A bound, listening socket that nobody accepts from yet.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Binds and listens. Connections queue in the kernel from here on, at most `backlog` of them; the kernel lowers that to
    /// `net.core.somaxconn`.
    ///
    /// The port is never shared: without `SO_REUSEPORT` a second process fails instead of taking
    /// half of the buyers. `SO_REUSEADDR` lets a restart bind while old connections linger.
    ///
    /// # Errors
    /// [`Error::AddressInUse`] where somebody listens there, [`Error::Bind`] for any other reason.
    pub fn bind(address: SocketAddr, backlog: u32) -> Result<Self, Error> {
        let socket = open(address, backlog).map_err(|source| {
            if source.kind() == io::ErrorKind::AddrInUse {
                Error::AddressInUse { address }
            } else {
                Error::Bind { address, source }
            }
        })?;
        let address = socket.local_addr().map_err(|source| Error::Bind { address, source })?;
        Ok(Self { socket, address })
    }

    /// The address in use, with the port that the system chose where 0 was asked for.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn into_socket(self) -> TcpListener {
        self.socket
    }
}

fn open(address: SocketAddr, backlog: u32) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    // Set here once instead of on each accepted socket: they inherit it, which saves their calls.
    socket.set_tcp_nodelay(true)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED_MAX))?;
    socket.bind(&address.into())?;
    socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use socket2::SockRef;

    use super::*;

    fn any_port() -> SocketAddr {
        "127.0.0.1:0".parse().expect("a literal address")
    }

    #[test]
    fn second_bind_fails_with_address_in_use() {
        let first = Listener::bind(any_port(), BACKLOG_DEFAULT).expect("a free port");
        let second = Listener::bind(first.local_addr(), BACKLOG_DEFAULT).expect_err("port is taken");
        assert!(matches!(second, Error::AddressInUse { .. }));
        assert!(second.to_string().contains("address in use"));
    }

    #[test]
    fn accepted_sockets_inherit_the_options() {
        let listener = Listener::bind(any_port(), BACKLOG_DEFAULT).expect("a free port");
        let _client = TcpStream::connect(listener.local_addr()).expect("the kernel queues it");
        let socket = listener.into_socket();
        socket.set_nonblocking(false).expect("to wait in accept");
        let (accepted, _) = socket.accept().expect("one is queued");
        let accepted = SockRef::from(&accepted);
        assert!(accepted.tcp_nodelay().expect("readable option"));
        assert_eq!(
            accepted.tcp_user_timeout().expect("readable option"),
            Some(UNACKNOWLEDGED_MAX)
        );
        assert!(accepted.send_buffer_size().expect("readable option") <= 2 * SEND_BUFFER_BYTES);
    }
}
