//! What happens at a moment that was named before, at all nodes: a switch goes home, a sale goes on. And a backlog that is drained.

use std::time::{Duration, Instant};

use serde_json::json;

use super::commands::{BACKLOG_MAX_TURNED, patch, post};
use super::heard::Turn;
use super::stage::{Followed, Stage};
use super::switch::Switch;
use crate::fleet::Fleet;
use crate::http::get;
use crate::process::{LOOK_EVERY, Process};
use crate::{Error, Result};

/// How long before its moment a switch is turned that goes home by itself: every node must have followed by then.
const EXPIRES_IN_MS: i64 = 4_000;
/// How long before its moment a sale is told to go on.
const RESUMES_IN_MS: i64 = 2_000;
/// How long tickets may take to pile up.
const PILED_UP_LIMIT: Duration = Duration::from_secs(60);
/// How long workers may take for all that piled up meanwhile.
const DRAINED_LIMIT: Duration = Duration::from_secs(120);

/// The store's clock, as a node tells it.
struct StoreClock {
    read_at: Instant,
    epoch_ms: i64,
}

impl StoreClock {
    fn read(stage: &Stage) -> Result<Self> {
        let asked = Instant::now();
        let data = get(stage.public, "/api/time", None)?.expect(200, "the store's time")?;
        let epoch_ms = data["server_time"].as_i64().ok_or_else(|| Error::Malformed {
            what: "the store's time".to_owned(),
        })?;
        let read_at = asked + asked.elapsed() / 2;
        Ok(Self { read_at, epoch_ms })
    }

    /// The moment in so many milliseconds, for us and in words.
    fn moment_in(&self, ms: i64) -> Result<(Instant, String)> {
        let at = jiff::Timestamp::from_millisecond(self.epoch_ms + ms);
        let at = at.map_err(|error| Error::Usage(format!("the store's clock is off: {error}")))?;
        Ok((self.read_at + Duration::from_millis(ms.unsigned_abs()), at.to_string()))
    }
}

const fn on(switch: Switch) -> Turn {
    Turn { switch, on: true }
}

const fn off(switch: Switch) -> Turn {
    Turn { switch, on: false }
}

/// From now on is listened to what nodes do by themselves.
fn begin(stage: &Stage) -> Instant {
    stage.log.begin();
    Instant::now()
}

/// The entrance is shut for a while, and opens by itself.
pub(super) fn expiry(stage: &mut Stage, by: usize) -> Result<Followed> {
    let (moment, at) = StoreClock::read(stage)?.moment_in(EXPIRES_IN_MS)?;
    let shut = patch(json!({"entry_open": false, "expires_at": at}));
    stage.turn(on(Switch::Entrance), by, &shut)?;
    let begun = begin(stage);
    if moment <= begun {
        return Err(Error::TooLate {
            what: "the nodes had not shut the entrance before it was to open again".to_owned(),
            limit_s: EXPIRES_IN_MS.unsigned_abs() / 1000,
        });
    }
    stage.turns_by_itself(off(Switch::Entrance), begun, moment)
}

/// A paused sale goes on at a moment.
pub(super) fn resumption(stage: &mut Stage, by: usize) -> Result<Followed> {
    let (pause, sale) = (Switch::Pause, stage.scene.sale);
    let command = pause.command(true, &stage.scene);
    stage.turn(on(pause), by, &command)?;
    let (moment, at) = StoreClock::read(stage)?.moment_in(RESUMES_IN_MS)?;
    let resume = post(format!("/admin/api/activities/{sale}/resume"), json!({ "at": at }));
    let begun = begin(stage);
    stage.admins[by].tell(&resume)?;
    stage.turns_by_itself(off(pause), begun, moment)
}

/// Workers stand still until more tickets wait than may.
pub(super) fn pile_up(stage: &Stage, fleet: &Fleet) -> Result<()> {
    fleet.workers().iter().for_each(Process::hold);
    let end = Instant::now() + PILED_UP_LIMIT;
    let waiting = || {
        stage.admins[0]
            .metrics()
            .map(|metrics| metrics.sum("seckill_queue_depth"))
    };
    while waiting()?.unwrap_or(0.0) < 2.0 * BACKLOG_MAX_TURNED as f64 {
        if end <= Instant::now() {
            return Err(Error::TooLate {
                what: "too few tickets waited for the backlog to be full".to_owned(),
                limit_s: PILED_UP_LIMIT.as_secs(),
            });
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// The backlog is full, and workers go on: nodes let buyers in again once few wait. Then there is room again.
pub(super) fn drained(stage: &mut Stage, fleet: &Fleet, by: usize) -> Result<Followed> {
    pile_up(stage, fleet)?;
    let command = Switch::Backlog.command(true, &stage.scene);
    stage.turn(on(Switch::Backlog), by, &command)?;
    let begun = begin(stage);
    fleet.workers().iter().for_each(Process::go_on);
    let followed = stage.turns_once(off(Switch::Backlog), begun, DRAINED_LIMIT)?;
    let command = Switch::Backlog.command(false, &stage.scene);
    stage.turn(off(Switch::Backlog), by, &command)?;
    Ok(followed)
}
