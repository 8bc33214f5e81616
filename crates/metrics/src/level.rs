//! Numbers whose peak counts as much as their value: a scrape every 15 s sees a tenth of a rush. The peak is the highest value
//! since the last scrape; where two scrapers share a server, each sees the peak since either's last one.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::Core;
use crate::cells::Cells;
use crate::counter::Label;
use crate::page::Page;
use crate::registry::Collect;

const NOW: usize = 0;
const PEAK: usize = 1;

/// How many of something there are now, counted up and down per core.
///
/// Its peak is the sum of the cores' own peaks: they need not have been at the same moment, so it may be too high, never too low.
/// One exact peak would be one number that all cores write on each request.
#[derive(Clone, Debug)]
pub struct Level {
    cells: Arc<Cells>,
}

impl Level {
    pub(crate) fn new(cores: usize) -> Self {
        Self {
            cells: Arc::new(Cells::new(cores, 2)),
        }
    }

    /// One more, until the guard is dropped. The guard may be dropped on another core.
    #[must_use]
    pub fn enter(&self, core: Core) -> LevelGuard<'_> {
        self.inc(core);
        LevelGuard { level: self, core }
    }

    /// One more. For holders that can't keep a guard; they owe a [`Level::dec`] with the same core.
    pub fn inc(&self, core: Core) {
        let now = self.cells.at(core, NOW).fetch_add(1, Relaxed).wrapping_add(1);
        let peak = self.cells.at(core, PEAK);
        if peak.load(Relaxed) < now {
            peak.fetch_max(now, Relaxed);
        }
    }

    /// One less.
    pub fn dec(&self, core: Core) {
        self.cells.at(core, NOW).fetch_sub(1, Relaxed);
    }

    /// How many there are now.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.cells.sum(NOW)
    }

    /// The peak since the last call; the next begins at what there is now.
    pub(crate) fn take_peak(&self) -> u64 {
        let pairs = self.cells.each(NOW).zip(self.cells.each(PEAK));
        pairs.map(|(now, peak)| peak.swap(now.load(Relaxed), Relaxed)).sum()
    }
}

/// Takes one off its [`Level`] when it is dropped.
#[derive(Debug)]
pub struct LevelGuard<'a> {
    level: &'a Level,
    core: Core,
}

impl Drop for LevelGuard<'_> {
    fn drop(&mut self) {
        self.level.dec(self.core);
    }
}

/// How many there are now for every value of a label, such as streams by kind. Without peaks.
#[derive(Debug)]
pub struct Levels<L> {
    cells: Arc<Cells>,
    label: PhantomData<fn(L)>,
}

impl<L> Clone for Levels<L> {
    fn clone(&self) -> Self {
        Self {
            cells: self.cells.clone(),
            label: PhantomData,
        }
    }
}

impl<L: Label> Levels<L> {
    pub(crate) fn new(cores: usize) -> Self {
        Self {
            cells: Arc::new(Cells::new(cores, L::VALUES.len())),
            label: PhantomData,
        }
    }

    /// One more, until the guard is dropped. The guard owns what it needs, because streams outlive the call that opened them.
    #[must_use]
    pub fn enter(&self, core: Core, value: L) -> LevelsGuard {
        self.cells.add(core, value.index(), 1);
        LevelsGuard {
            cells: self.cells.clone(),
            index: value.index(),
            core,
        }
    }

    /// How many there are now.
    #[must_use]
    pub fn now(&self, value: L) -> u64 {
        self.cells.sum(value.index())
    }
}

/// Takes one off its [`Levels`] when it is dropped.
#[derive(Debug)]
pub struct LevelsGuard {
    cells: Arc<Cells>,
    index: usize,
    core: Core,
}

impl Drop for LevelsGuard {
    fn drop(&mut self) {
        self.cells.at(self.core, self.index).fetch_sub(1, Relaxed);
    }
}

impl<L: Label> Collect for Levels<L> {
    fn collect(&self, name: &str, page: &mut Page) {
        for (index, value) in L::VALUES.iter().enumerate() {
            page.whole(name, &[(L::NAME, value)], self.cells.sum(index));
        }
    }
}

/// A depth that somebody knows as a whole and sets, such as that of a queue.
#[derive(Clone, Debug, Default)]
pub struct Depth {
    shared: Arc<[AtomicU64; 2]>,
}

impl Depth {
    /// Sets it.
    pub fn set(&self, depth: u64) {
        self.shared[NOW].store(depth, Relaxed);
        self.shared[PEAK].fetch_max(depth, Relaxed);
    }

    /// What it was set to last.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.shared[NOW].load(Relaxed)
    }

    pub(crate) fn take_peak(&self) -> u64 {
        self.shared[PEAK].swap(self.now(), Relaxed)
    }
}

impl Collect for Level {
    fn collect(&self, name: &str, page: &mut Page) {
        page.whole(name, &[], self.now());
    }
}

impl Collect for Depth {
    fn collect(&self, name: &str, page: &mut Page) {
        page.whole(name, &[], self.now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_falls_when_its_guard_is_dropped() {
        let level = Level::new(2);
        let first = level.enter(Core::new(0));
        let second = level.enter(Core::new(1));
        assert_eq!(level.now(), 2);
        drop(first);
        std::thread::scope(|scope| scope.spawn(move || drop(second)).join().unwrap());
        assert_eq!(level.now(), 0);
    }

    #[test]
    fn peak_begins_anew_at_the_present_level() {
        let level = Level::new(2);
        let kept = level.enter(Core::new(0));
        drop((level.enter(Core::new(0)), level.enter(Core::new(1))));
        assert_eq!((level.take_peak(), level.now()), (3, 1));
        assert_eq!(level.take_peak(), 1);
        drop(kept);
        assert_eq!((level.take_peak(), level.take_peak()), (1, 0));
    }

    #[test]
    fn peak_of_a_depth_is_the_highest_since_the_last_time() {
        let depth = Depth::default();
        for value in [3, 9, 2] {
            depth.set(value);
        }
        assert_eq!((depth.now(), depth.take_peak(), depth.take_peak()), (2, 9, 2));
    }
}
