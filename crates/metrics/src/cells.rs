//! Numbers in cache lines of their own for every core. All hot metrics are built on this one layout.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::Core;

/// Numbers in one line.
const LINE_CELLS: usize = 16;

/// Two cache lines: processors fetch the neighbour of a line with it.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Line([AtomicU64; LINE_CELLS]);

/// `len` numbers for each core and for the threads that belong to none.
#[derive(Debug)]
pub(crate) struct Cells {
    lines: Box<[Line]>,
    lines_per_core: usize,
    cores: usize,
}

impl Cells {
    pub(crate) fn new(cores: usize, len: usize) -> Self {
        let lines_per_core = len.div_ceil(LINE_CELLS);
        let lines = (0..lines_per_core * (cores + 1)).map(|_| Line::default()).collect();
        Self {
            lines,
            lines_per_core,
            cores,
        }
    }

    /// The number of one core. Relaxed throughout: a count orders nothing.
    pub(crate) fn at(&self, core: Core, index: usize) -> &AtomicU64 {
        self.at_place(core.place(self.cores), index)
    }

    pub(crate) fn add(&self, core: Core, index: usize, amount: u64) {
        self.at(core, index).fetch_add(amount, Relaxed);
    }

    /// The sum over all cores; it wraps, so that cores which count down more than up come out right.
    pub(crate) fn sum(&self, index: usize) -> u64 {
        self.each(index)
            .fold(0, |sum, cell| sum.wrapping_add(cell.load(Relaxed)))
    }

    /// The number of every core.
    pub(crate) fn each(&self, index: usize) -> impl Iterator<Item = &AtomicU64> {
        (0..=self.cores).map(move |place| self.at_place(place, index))
    }

    fn at_place(&self, place: usize, index: usize) -> &AtomicU64 {
        debug_assert!(
            index / LINE_CELLS < self.lines_per_core,
            "the index lies within the length"
        );
        &self.lines[place * self.lines_per_core + index / LINE_CELLS].0[index % LINE_CELLS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_count_in_lines_of_their_own() {
        let cells = Cells::new(2, 20);
        let address = |core, index| std::ptr::from_ref(cells.at(core, index)).addr() / 128;
        for index in 0..20 {
            assert_ne!(address(Core::new(0), index), address(Core::new(1), index));
            assert_ne!(address(Core::new(1), index), address(Core::OTHER, index));
        }
    }

    #[test]
    fn sum_is_over_all_cores_and_one_index() {
        let cells = Cells::new(2, 20);
        for (core, index, amount) in [
            (Core::new(0), 17, 1),
            (Core::new(1), 17, 10),
            (Core::OTHER, 17, 100),
            (Core::new(0), 1, 7),
        ] {
            cells.add(core, index, amount);
        }
        assert_eq!((cells.sum(17), cells.sum(1), cells.sum(0)), (111, 7, 0));
    }
}
