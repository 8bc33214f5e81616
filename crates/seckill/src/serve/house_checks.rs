//! What the process knows of itself and its machine, for the checklist before a sale.

use std::path::Path;
use std::sync::Arc;

use seckill_console::{Check, HouseChecks};
use seckill_settings::Settings;

/// Free space below which a busy sale may fill the disk: a few segments of the journal, and as much for the database.
const FREE_BYTES_MIN: u64 = 1 << 30;

/// The checks of a node with these settings.
pub(crate) fn of(settings: &Settings) -> HouseChecks {
    let data_dir = settings.data_dir.clone();
    let connections_max = settings.server.connections_max;
    let public = !settings.server.listen.ip().is_loopback();
    let sandbox = settings.payments.sandbox;
    Arc::new(move || vec![disk(&data_dir), payments(sandbox, public), connections(connections_max)])
}

fn disk(data_dir: &Path) -> Check {
    const AREA: &str = "disk";
    match rustix::fs::statvfs(data_dir) {
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let said = format!("{} MiB are free where the data are", free >> 20);
            if free < FREE_BYTES_MIN {
                Check::failed(AREA, format!("{said}: make room for {} MiB", FREE_BYTES_MIN >> 20))
            } else {
                Check::passed(AREA, said)
            }
        }
        Err(error) => Check::failed(AREA, format!("the data folder can't be looked at: {error}")),
    }
}

fn payments(sandbox: bool, public: bool) -> Check {
    const AREA: &str = "payments";
    match (sandbox, public) {
        (true, true) => Check::warning(
            AREA,
            "buyers pay by themselves in the sandbox, on a public address: set `payments.sandbox` to false",
        ),
        (true, false) => Check::passed(AREA, "by the sandbox, on a loopback address"),
        (false, _) => Check::passed(AREA, "by the signed webhook"),
    }
}

/// The number is what the descriptors allow: it was fitted to them at the start.
fn connections(most: usize) -> Check {
    Check::passed("connections", format!("up to {most} at a time"))
}
