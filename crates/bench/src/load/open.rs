//! Connections that are open before the clock starts.

use std::net::SocketAddr;
use std::time::Duration;

use crate::client::Connection;
use crate::{Error, Result};

/// Opens connections, spread evenly over the targets.
pub(crate) async fn open_all(targets: &[SocketAddr], count: usize, answer_limit: Duration) -> Result<Vec<Connection>> {
    let mut all = Vec::with_capacity(count);
    for &target in targets.iter().cycle().take(count) {
        let mut connection = Connection::new(target, answer_limit);
        connection.open().await.map_err(|reason| Error::Io {
            what: format!("connect to {target}"),
            source: std::io::Error::new(std::io::ErrorKind::ConnectionRefused, reason.to_string()),
        })?;
        all.push(connection);
    }
    Ok(all)
}
