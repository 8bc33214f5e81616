//! What the process knows of itself and its machine, for the checklist before a sale.

use std::path::Path;
use std::sync::Arc;

use seckill_console::{Check, HouseChecks};

use super::descriptors;
use super::node::Node;

/// Free space below which a busy sale may fill the disk: a few segments of the journal, and as much for the database.
const FREE_BYTES_MIN: u64 = 1 << 30;

/// The checks of a node.
pub(crate) fn of(node: &Node) -> HouseChecks {
    let (settings, gate, key_file) = (&node.settings, node.gate.clone(), node.key_file.clone());
    let data_dir = settings.data_dir.clone();
    let connections_max = settings.server.connections_max;
    let public = !settings.server.listen.ip().is_loopback();
    let sandbox = settings.payments.sandbox;
    let signed = settings.payments.webhook_secret.is_some();
    let caution = descriptors::caution(settings);
    Arc::new(move || {
        let connections = connections(connections_max, caution.as_deref());
        let keys = key_file.as_ref().map(|keys| keys.check(&gate));
        let checks = [disk(&data_dir), payments(sandbox, signed, public), connections];
        checks.into_iter().chain(keys).collect()
    })
}

const DISK: &str = "disk";

fn disk(data_dir: &Path) -> Check {
    match rustix::fs::statvfs(data_dir) {
        Ok(disk) => room(disk.f_bavail.saturating_mul(disk.f_frsize)),
        Err(error) => Check::failed(DISK, format!("the data folder can't be looked at: {error}")),
    }
}

fn room(free_bytes: u64) -> Check {
    let said = format!("{} MiB are free where the data are", free_bytes >> 20);
    if free_bytes < FREE_BYTES_MIN {
        Check::failed(DISK, format!("{said}: make room for {} MiB", FREE_BYTES_MIN >> 20))
    } else {
        Check::passed(DISK, said)
    }
}

fn payments(sandbox: bool, signed: bool, public: bool) -> Check {
    const AREA: &str = "payments";
    match (sandbox, public) {
        (false, _) if !signed => Check::failed(
            AREA,
            "no order can be paid: `payments.sandbox` is false and `payments.webhook_secret` is not set, so each one expires; set the secret that the provider signs with",
        ),
        (true, true) => Check::warning(
            AREA,
            "buyers pay by themselves in the sandbox, on a public address: set `payments.sandbox` to false",
        ),
        (true, false) => Check::passed(AREA, "by the sandbox, on a loopback address"),
        (false, _) => Check::passed(AREA, "by the signed webhook"),
    }
}

/// The number is what the descriptors allow: it was fitted to them at the start.
fn connections(most: usize, caution: Option<&str>) -> Check {
    const AREA: &str = "connections";
    match caution {
        Some(caution) => Check::warning(AREA, caution),
        None => Check::passed(AREA, format!("up to {most} at a time")),
    }
}

#[cfg(test)]
mod tests {
    use seckill_console::CheckState;

    use super::*;

    #[test]
    fn a_disk_without_room_for_a_busy_sale_fails() {
        assert_eq!(room(FREE_BYTES_MIN).state, CheckState::Passed);
        assert_eq!(room(FREE_BYTES_MIN - 1).state, CheckState::Failed);
        assert_eq!(disk(Path::new("/nowhere/at/all")).state, CheckState::Failed);
    }

    #[test]
    fn a_sandbox_on_a_public_address_is_told_of() {
        let states =
            [(true, true), (true, false), (false, true)].map(|(sandbox, public)| payments(sandbox, true, public).state);
        assert_eq!(states, [CheckState::Warning, CheckState::Passed, CheckState::Passed]);
    }

    #[test]
    fn orders_that_nothing_can_pay_fail() {
        for public in [false, true] {
            let check = payments(false, false, public);
            assert_eq!(check.state, CheckState::Failed);
            assert!(check.said.contains("payments.webhook_secret"), "{}", check.said);
        }
        assert_eq!(payments(true, false, false).state, CheckState::Passed);
    }

    #[test]
    fn connections_that_cannot_be_had_are_told_of() {
        assert_eq!(connections(500, None).state, CheckState::Passed);
        let few = connections(500, Some("too few descriptors"));
        assert_eq!(
            (few.state, few.said.as_str()),
            (CheckState::Warning, "too few descriptors")
        );
    }
}
