//! Counters: alone, or one for every value of a label that is known beforehand.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::Core;
use crate::cells::Cells;
use crate::page::Page;
use crate::registry::Collect;

/// A number that only grows. A clone counts the same number.
#[derive(Clone, Debug)]
pub struct Counter {
    cells: Arc<Cells>,
}

impl Counter {
    pub(crate) fn new(cores: usize) -> Self {
        Self {
            cells: Arc::new(Cells::new(cores, 1)),
        }
    }

    /// Counts one.
    pub fn inc(&self, core: Core) {
        self.add(core, 1);
    }

    /// Counts several at once.
    pub fn add(&self, core: Core, amount: u64) {
        self.cells.add(core, 0, amount);
    }

    /// The count over all cores.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.cells.sum(0)
    }
}

impl Collect for Counter {
    fn collect(&self, name: &str, page: &mut Page) {
        page.whole(name, &[], self.total());
    }
}

/// A label whose values are known beforehand: an enum without fields.
pub trait Label: Copy + Send + Sync + 'static {
    /// Name of the label.
    const NAME: &'static str;
    /// Its values, in the order of [`Label::index`].
    const VALUES: &'static [&'static str];

    /// Place among the values.
    fn index(self) -> usize;
}

/// A counter for every value of one label. All are shown from the start, so that a first increase is seen as one.
#[derive(Debug)]
pub struct Labelled<L> {
    cells: Arc<Cells>,
    label: PhantomData<fn(L)>,
}

impl<L> Clone for Labelled<L> {
    fn clone(&self) -> Self {
        Self {
            cells: self.cells.clone(),
            label: PhantomData,
        }
    }
}

impl<L: Label> Labelled<L> {
    pub(crate) fn new(cores: usize) -> Self {
        Self {
            cells: Arc::new(Cells::new(cores, L::VALUES.len())),
            label: PhantomData,
        }
    }

    /// Counts one.
    pub fn inc(&self, core: Core, value: L) {
        self.add(core, value, 1);
    }

    /// Counts several at once.
    pub fn add(&self, core: Core, value: L, amount: u64) {
        self.cells.add(core, value.index(), amount);
    }

    /// The count of one value over all cores.
    #[must_use]
    pub fn total(&self, value: L) -> u64 {
        self.cells.sum(value.index())
    }
}

impl<L: Label> Collect for Labelled<L> {
    fn collect(&self, name: &str, page: &mut Page) {
        for (index, value) in L::VALUES.iter().enumerate() {
            page.whole(name, &[(L::NAME, value)], self.cells.sum(index));
        }
    }
}
