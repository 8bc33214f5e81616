//! Which core counts.

use std::cell::Cell;

/// Index of a per-core runtime. Threads that belong to none count as [`Core::OTHER`], which they share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Core(usize);

thread_local! {
    static CURRENT: Cell<Core> = const { Cell::new(Core::OTHER) };
}

impl Core {
    /// Every thread that is not a runtime of the public port: workers, admin, scheduler.
    pub const OTHER: Self = Self(usize::MAX);

    /// The runtime with this index, from 0. An index beyond the number the registry was made for shares with [`Core::OTHER`].
    #[must_use]
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// Says which core this thread counts for. A runtime calls it once, before its first request.
    pub fn bind_thread(self) {
        CURRENT.set(self);
    }

    /// The core this thread counts for; [`Core::OTHER`] where nobody said.
    #[must_use]
    pub fn current() -> Self {
        CURRENT.get()
    }

    /// Its place among `cores` cores and the shared one behind them.
    pub(crate) fn place(self, cores: usize) -> usize {
        self.0.min(cores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_counts_for_others_until_it_is_bound() {
        std::thread::spawn(|| {
            assert_eq!(Core::current(), Core::OTHER);
            Core::new(1).bind_thread();
            assert_eq!(Core::current(), Core::new(1));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn core_beyond_the_last_shares_the_place_of_others() {
        assert_eq!(
            [Core::new(0), Core::new(1), Core::new(2), Core::OTHER].map(|core| core.place(2)),
            [0, 1, 2, 2]
        );
    }
}
