//! Tells the log of an outage once when it begins, now and then while it lasts, and once when it is over, whoever meets it and however
//! often.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use seckill_ledger::Error;
use seckill_sale::ActivityId;

/// How often it is said that an outage still lasts.
const REMINDED_EVERY: Duration = Duration::from_secs(30);

/// An outage that comes again so soon is the same one, of a database that works now and then; it is over when it has stayed away so long.
const QUIET: Duration = Duration::from_secs(10);

/// How the reason of an outage begins that is none of the database: a row is in somebody else's hands.
pub(crate) const LOCKED: &str = "lock wait timeout";

/// What is to be said.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    Gone,
    Still(Duration),
    Back(Duration),
}

#[derive(Debug, Clone, Copy)]
struct Outage {
    since: Instant,
    last_failure: Instant,
    told: Instant,
    /// It was over before, and said to be.
    returned: bool,
}

#[derive(Debug, Default)]
struct Outages {
    /// The one that lasts, or the last one.
    outage: Option<Outage>,
    lasts: bool,
    /// Which sides met it, and have not worked since.
    failing: [bool; 2],
    /// Sales of which it was told within [`REMINDED_EVERY`] that somebody holds a row of theirs; none: whosever.
    locked: HashMap<Option<ActivityId>, Instant>,
}

impl Outages {
    fn failed(&mut self, side: usize, now: Instant) -> Option<Told> {
        self.failing[side] = true;
        let known = self
            .outage
            .filter(|outage| self.lasts || now.duration_since(outage.last_failure) < QUIET);
        let Some(outage) = known else {
            self.outage = Some(Outage {
                since: now,
                last_failure: now,
                told: now,
                returned: false,
            });
            self.lasts = true;
            return Some(Told::Gone);
        };
        let is_due = REMINDED_EVERY <= now.duration_since(outage.told);
        self.outage = Some(Outage {
            last_failure: now,
            told: if is_due { now } else { outage.told },
            returned: outage.returned || !self.lasts,
            ..outage
        });
        self.lasts = true;
        is_due.then(|| Told::Still(now.duration_since(outage.since)))
    }

    /// Whether it is to be said that somebody holds a row.
    fn locked(&mut self, activity: Option<ActivityId>, now: Instant) -> bool {
        self.locked.retain(|_, told| now.duration_since(*told) < REMINDED_EVERY);
        let is_told = self.locked.contains_key(&activity);
        self.locked.entry(activity).or_insert(now);
        !is_told
    }

    fn worked(&mut self, side: usize, now: Instant) -> Option<Told> {
        self.failing[side] = false;
        let outage = self.outage.filter(|_| self.lasts)?;
        let is_quiet = QUIET <= now.duration_since(outage.last_failure);
        let is_back = !outage.returned && self.failing == [false; 2];
        if !is_quiet && !is_back {
            return None;
        }
        self.lasts = false;
        Some(Told::Back(now.duration_since(outage.since)))
    }
}

/// One side of a ledger, its writers or its readers: what works on one side says nothing of the other.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    outages: Arc<Mutex<Outages>>,
    side: usize,
}

impl Watch {
    /// Of both sides of one database.
    pub(crate) fn both() -> [Self; 2] {
        let outages = Arc::new(Mutex::new(Outages::default()));
        [0, 1].map(|side| Self {
            outages: Arc::clone(&outages),
            side,
        })
    }

    /// Something was done, of this sale or of none, or not for `error`.
    pub(crate) fn note(&self, activity: Option<ActivityId>, error: Option<&Error>) {
        let (now, mut outages) = (Instant::now(), self.outages.lock());
        if let Some(Error::Outage(reason)) = error
            && reason.starts_with(LOCKED)
        {
            let is_news = outages.locked(activity, now);
            drop(outages);
            if is_news {
                let activity = activity.map(tracing::field::display);
                tracing::warn!(activity, reason, "somebody holds a row for long; what needs it waits");
            }
            return;
        }
        let (told, reason) = match error {
            Some(Error::Outage(reason) | Error::OutcomeUnknown(reason)) => (outages.failed(self.side, now), &**reason),
            _ => (outages.worked(self.side, now), ""),
        };
        drop(outages);
        match told {
            None => {}
            Some(Told::Gone) => tracing::warn!(reason, "the database cannot be used; what needs it waits"),
            Some(Told::Still(time)) => {
                tracing::warn!(reason, for_s = time.as_secs(), "the database still cannot be used");
            }
            Some(Told::Back(time)) => tracing::info!(after_s = time.as_secs(), "the database can be used again"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITES: usize = 0;
    const READS: usize = 1;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn an_outage_is_told_when_it_begins_every_half_minute_and_when_it_is_over() {
        let (mut outages, begin) = (Outages::default(), Instant::now());
        let told: Vec<_> = (0..160)
            .filter_map(|half| outages.failed(half % 2, begin + seconds(half as u64) / 2))
            .collect();
        assert_eq!(told, [Told::Gone, Told::Still(seconds(30)), Told::Still(seconds(60))]);
        assert_eq!(
            outages.worked(READS, begin + seconds(80)),
            None,
            "nothing was written yet"
        );
        let back = outages.worked(WRITES, begin + seconds(81));
        assert_eq!(back, Some(Told::Back(seconds(81))));
        assert_eq!(outages.worked(WRITES, begin + seconds(82)), None);
        assert_eq!(outages.failed(WRITES, begin + seconds(100)), Some(Told::Gone));
    }

    #[test]
    fn a_database_that_works_now_and_then_is_told_of_like_one_outage() {
        let (mut outages, begin) = (Outages::default(), Instant::now());
        let told: Vec<_> = (0..40)
            .flat_map(|second| {
                let now = begin + seconds(second);
                [
                    outages.failed(WRITES, now),
                    outages.worked(WRITES, now + seconds(1) / 2),
                ]
            })
            .flatten()
            .collect();
        let (first, still) = (Told::Back(seconds(1) / 2), Told::Still(seconds(30)));
        assert_eq!(told, [Told::Gone, first, still]);
        let quiet = outages.worked(WRITES, begin + seconds(49));
        assert_eq!(quiet, Some(Told::Back(seconds(49))));
    }

    #[test]
    fn a_row_that_somebody_holds_is_told_once_in_half_a_minute_of_each_sale_and_is_no_outage() {
        let (mut outages, begin) = (Outages::default(), Instant::now());
        let sale = |id| Some(ActivityId::new(id).unwrap());
        let told = [
            (sale(1), 0),
            (sale(1), 29),
            (sale(2), 29),
            (None, 29),
            (sale(1), 30),
            (sale(2), 31),
        ];
        let told = told.map(|(sale, second)| outages.locked(sale, begin + seconds(second)));
        assert_eq!(told, [true, false, true, true, true, false]);
        let [watch, _] = Watch::both();
        watch.note(sale(1), Some(&Error::Outage(format!("{LOCKED} (error 1205)"))));
        assert!(!watch.outages.lock().lasts);
        watch.note(sale(1), Some(&Error::Outage("connection refused".to_owned())));
        assert!(watch.outages.lock().lasts);
    }

    #[test]
    fn a_side_that_is_not_asked_again_keeps_no_outage_alive() {
        let (mut outages, begin) = (Outages::default(), Instant::now());
        assert_eq!(outages.failed(WRITES, begin), Some(Told::Gone));
        assert_eq!(outages.worked(READS, begin + seconds(9)), None);
        let over = outages.worked(READS, begin + seconds(10));
        assert_eq!(over, Some(Told::Back(seconds(10))));
    }
}
