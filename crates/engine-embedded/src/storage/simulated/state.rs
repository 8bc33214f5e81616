//! What is behind the lock of a simulated disk: its files, its faults to come, and its whims.

use std::collections::BTreeMap;
use std::io;

use super::Fault;
use super::content::Content;
use super::names::Names;

#[derive(Debug)]
pub(super) struct State {
    random: Random,
    pub(super) names: Names,
    pub(super) contents: BTreeMap<u64, Content>,
    /// Files created so far; numbers them.
    pub(super) created: u64,
    /// Raised when the process of all handles ends.
    pub(super) life: u64,
    pub(super) powered: bool,
    pub(super) space_bytes: u64,
    pub(super) operations: u64,
    pub(super) faults: BTreeMap<u64, Fault>,
}

/// What an operation asks of the disk, for the faults that touch only some.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    /// Moves bytes of a file and may be cut short.
    Read,
    /// Moves bytes of a file, may be cut short and may need space.
    Write,
    /// May need space.
    Space,
    /// Makes things durable; may need space.
    Sync,
    Nothing,
}

/// How an operation goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Course {
    Short,
    Normal,
    /// Applied without being durable, then the power fails.
    LastBreath,
}

impl State {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: Random(seed),
            names: Names::default(),
            contents: BTreeMap::new(),
            created: 0,
            life: 0,
            powered: true,
            space_bytes: u64::MAX,
            operations: 0,
            faults: BTreeMap::new(),
        }
    }

    pub(super) fn begin(&mut self, demand: Demand) -> io::Result<Course> {
        if !self.powered {
            return Err(io::Error::other("no power"));
        }
        let operation = self.operations;
        self.operations += 1;
        let moves = matches!(demand, Demand::Read | Demand::Write);
        let needs_space = !matches!(demand, Demand::Read | Demand::Nothing);
        match self.faults.remove(&operation) {
            Some(Fault::Broken) => Err(io::Error::other("simulated disk error")),
            Some(Fault::Full) if needs_space => Err(io::ErrorKind::StorageFull.into()),
            Some(Fault::Interrupted) if moves => Err(io::ErrorKind::Interrupted.into()),
            Some(Fault::Short) if moves => Ok(Course::Short),
            Some(Fault::PowerLoss) => Ok(Course::LastBreath),
            _ => Ok(Course::Normal),
        }
    }

    pub(super) fn end(&mut self, course: Course) -> io::Result<()> {
        if matches!(course, Course::LastBreath) {
            self.cut_power();
            return Err(io::Error::other("no power"));
        }
        Ok(())
    }

    pub(super) fn content(&mut self, number: u64) -> io::Result<&mut Content> {
        self.contents
            .get_mut(&number)
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(super) fn forget(&mut self, number: u64) {
        if let Some(content) = self.contents.get_mut(&number) {
            content.fail_to_sync(&mut self.random);
        }
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.names
            .numbers()
            .filter_map(|number| self.contents.get(&number))
            .map(Content::len)
            .sum()
    }

    pub(super) fn cut_power(&mut self) {
        self.powered = false;
        self.life += 1;
        self.names.lose_power(&mut self.random);
        let State {
            contents,
            names,
            random,
            ..
        } = self;
        contents.retain(|number, _| names.numbers().any(|named| named == *number));
        for content in contents.values_mut() {
            content.lose_power(random);
        }
    }
}

/// SplitMix64: small, and the same for ever, so that a seed in a bug report stays good.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(super) fn coin(&mut self) -> bool {
        self.next() & 1 == 0
    }
}
