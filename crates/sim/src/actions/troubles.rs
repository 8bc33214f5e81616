//! Everything that fails, and the clock.

use seckill_engine_embedded::storage::simulated::Fault as DiskFault;
use seckill_sale::EpochMs;

use crate::scenario::Action;
use crate::weather::Poison;
use crate::world::{Death, World};

/// Operations of the disk within which a planned fault strikes.
const OPERATIONS_AHEAD: u64 = 8;

pub(super) fn trouble(world: &mut World, action: Action) {
    match action {
        Action::Advance => {
            let ms = world.random.between(1, world.scenario.advance_ms_max);
            move_clock(world, ms.cast_signed());
        }
        Action::GoBack => {
            let ms = *world.random.pick(&[10, 3_000, 3_600_000]);
            move_clock(world, -ms);
        }
        Action::LedgerFalls => world.weather.set_ledger_down(true),
        Action::LedgerRises => world.weather.set_ledger_down(false),
        Action::RepliesGetLost => world.weather.set_lost_replies(200),
        Action::RepliesArrive => world.weather.set_lost_replies(0),
        Action::DiskFills => {
            let disk = &world.ground.disk.inner;
            disk.limit_space(disk.used_bytes() + world.random.below(4_096));
        }
        Action::DiskEmpties => world.ground.disk.inner.limit_space(u64::MAX),
        Action::DiskFails => {
            let fault = *world.random.pick(&[
                DiskFault::Broken,
                DiskFault::Full,
                DiskFault::Short,
                DiskFault::Interrupted,
                DiskFault::PowerLoss,
            ]);
            let disk = &world.ground.disk.inner;
            disk.fail(disk.operations() + world.random.below(OPERATIONS_AHEAD), fault);
            world.weather.note(&format!("the disk is about to fail: {fault:?}"));
            return;
        }
        Action::Kill => world.die(Death::Killed),
        Action::CutPower => world.die(Death::PowerLoss),
        Action::Compact => world.compact(),
        Action::CompactLive => world.compact_live(),
        Action::Poison => {
            let user = format!("u{}", world.random.below(world.scenario.users));
            let poison = *world.random.pick(&[Poison::Row, Poison::Attempts]);
            world.weather.poison(user, poison);
        }
        Action::Cure => world.weather.cure(),
        _ => {}
    }
    world.weather.note(&format!("{action:?}"));
}

/// Moves the clock, also backwards.
pub(crate) fn move_clock(world: &mut World, ms: i64) {
    let now = world.now_ms() + ms;
    world.ground.clock.set(EpochMs(now));
    world.auditor.borrow_mut().clock_moved(now);
}
