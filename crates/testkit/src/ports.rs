//! Ports for processes that tests start.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// A loopback address whose port is free now.
///
/// # Panics
/// Where there is none.
#[must_use]
pub fn free_address() -> SocketAddr {
    free_addresses::<1>()[0]
}

/// Addresses whose ports are free now; they differ, since all are held at once.
pub(crate) fn free_addresses<const COUNT: usize>() -> [SocketAddr; COUNT] {
    let held = [(); COUNT].map(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port"));
    held.each_ref().map(|listener| listener.local_addr().expect("bound"))
}
