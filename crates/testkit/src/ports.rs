//! Ports for processes that tests start.

use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::BuildHasher as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Mutex, PoisonError};

/// Below those that outgoing connections take: nobody gets one of them by chance.
const FIRST: u64 = 20_000;
const COUNT: u64 = 12_000;

/// A loopback address whose port is free now, and stays this process's own until it ends, also while nobody listens there: a server that was
/// killed comes back on it.
///
/// # Panics
/// Where there is none.
#[must_use]
pub fn free_address() -> SocketAddr {
    /// Locks on the ports of this process.
    static OWN: Mutex<Vec<File>> = Mutex::new(Vec::new());
    for _ in 0..COUNT {
        let port = FIRST + RandomState::new().hash_one(std::process::id()) % COUNT;
        let Some(lock) = lock(port) else { continue };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, u16::try_from(port).expect("small")));
        if TcpListener::bind(address).is_ok() {
            OWN.lock().unwrap_or_else(PoisonError::into_inner).push(lock);
            return address;
        }
    }
    panic!("no port of {COUNT} is free");
}

/// Addresses whose ports are free now; they differ.
pub(crate) fn free_addresses<const COUNT: usize>() -> [SocketAddr; COUNT] {
    [(); COUNT].map(|()| free_address())
}

/// None where a test has the port, also of another run.
fn lock(port: u64) -> Option<File> {
    let folder = std::env::temp_dir().join("seckill-ports");
    fs::create_dir_all(&folder).ok()?;
    let file = File::create(folder.join(port.to_string())).ok()?;
    file.try_lock().ok().map(|()| file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_given_out_once_though_nobody_listens_there() {
        let addresses = free_addresses::<200>();
        for (at, address) in addresses.iter().enumerate() {
            assert!(!addresses[..at].contains(address), "{address}");
            assert!(lock(u64::from(address.port())).is_none());
        }
    }
}
