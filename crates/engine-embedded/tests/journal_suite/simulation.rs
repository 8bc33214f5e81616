//! A journal on a simulated disk beside a model of it: which batches were acknowledged, and which may be there.
//!
//! Batch `n` gets sequence `n`. The caller's state is the list of all batches; a snapshot holds ranges of
//! numbers.

use seckill_engine_embedded::journal::{Compacted, Compaction, Error, Journal, Opened, Options, SnapshotWriter};
use seckill_engine_embedded::storage::simulated::Simulated;

use crate::fixture::INSTALLATION;

pub(crate) const OPTIONS: Options = Options {
    segment_bytes: 12_288,
    allocate_bytes: 3000,
    frame_bytes_max: 2500,
};

const BATCH: u8 = b'B';
const SNAPSHOT: u8 = b'S';

pub(crate) struct Simulation {
    pub(crate) disk: Simulated,
    /// Batches that were acknowledged.
    pub(crate) acknowledged: u64,
    /// Batches that may be there: one more than acknowledged after a commit without an answer.
    pub(crate) possible: u64,
}

/// A batch whose bytes follow from its number; lengths reach from one sector to several.
pub(crate) fn batch(number: u64) -> Vec<u8> {
    let length = usize::try_from(number * 7919 % 97).unwrap();
    let filler = if number.is_multiple_of(5) { length * 25 } else { length };
    let mut bytes = vec![BATCH];
    bytes.extend_from_slice(&number.to_le_bytes());
    bytes.extend((0..filler).map(|at| u8::try_from(at % 251).unwrap() ^ number.to_le_bytes()[0]));
    bytes
}

/// Applies a payload to the list of batches.
fn apply(batches: &mut u64, sequence: u64, payload: &[u8]) -> Result<(), String> {
    let number = u64::from_le_bytes(payload[1..9].try_into().unwrap());
    match payload[0] {
        BATCH if number == *batches + 1 && number == sequence && payload == batch(number) => *batches = number,
        SNAPSHOT if number == *batches + 1 => *batches = u64::from_le_bytes(payload[9..17].try_into().unwrap()),
        _ => return Err(format!("batch {number} under sequence {sequence} after {batches}")),
    }
    Ok(())
}

impl Simulation {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            disk: Simulated::new(seed),
            acknowledged: 0,
            possible: 0,
        }
    }

    /// Starts the journal and checks what is there. `None` where the disk failed under it.
    pub(crate) fn start(&mut self) -> Option<Journal<Simulated>> {
        self.try_start().ok()
    }

    pub(crate) fn try_start(&mut self) -> Result<Journal<Simulated>, Error> {
        let mut batches = 0;
        let opened = Journal::create_or_open(self.disk.clone(), OPTIONS, INSTALLATION, &mut |sequence, payload| {
            apply(&mut batches, sequence, payload).map_err(Into::into)
        });
        let Opened { journal, created, .. } = match opened {
            Ok(opened) => opened,
            Err(error @ (Error::Damaged { .. } | Error::Replay { .. })) => panic!("refused: {error:?}"),
            Err(error) => return Err(error),
        };
        assert!(!created || self.acknowledged == 0, "the journal is gone");
        assert!(
            (self.acknowledged..=self.possible).contains(&batches),
            "{batches}: {} acknowledged",
            self.acknowledged
        );
        assert_eq!(journal.next_sequence(), batches + 1);
        (self.acknowledged, self.possible) = (batches, batches);
        Ok(journal)
    }

    pub(crate) fn commit(&mut self, journal: &mut Journal<Simulated>) -> Result<(), Error> {
        assert_eq!(
            self.acknowledged, self.possible,
            "nothing may follow a commit without an answer"
        );
        let number = self.acknowledged + 1;
        match journal.commit(&batch(number)) {
            Ok(sequence) => {
                assert_eq!(sequence, number);
                (self.acknowledged, self.possible) = (number, number);
                Ok(())
            }
            Err(error) => {
                if let Error::Broken { .. } = error {
                    self.possible = number;
                    assert!(journal.is_broken());
                    assert!(matches!(journal.commit(b"later"), Err(Error::Broken { .. })));
                    assert!(matches!(journal.reserve(1), Err(Error::Broken { .. })));
                    assert!(matches!(journal.seal(), Err(Error::Broken { .. })));
                }
                Err(error)
            }
        }
    }

    /// Checks that all acknowledged batches survive the end of the process, and then a power loss.
    pub(crate) fn assert_survives(&mut self) {
        self.disk.clear_faults();
        self.disk.limit_space(u64::MAX);
        self.disk.restart();
        let mut journal = self.start().expect("the disk works");
        // What the old process left unsynced must be settled by the start alone, and must be if more is built on it.
        if self.disk.operations().is_multiple_of(2) {
            self.commit(&mut journal).unwrap();
        }
        self.disk.cut_power();
        self.disk.restart();
        let mut journal = self.start().expect("the disk works");
        self.commit(&mut journal).unwrap();
        self.disk.restart();
        self.start().expect("the disk works");
    }
}

/// A compaction in pieces, so that other things can happen between them.
pub(crate) enum Compacting {
    Reading(Compaction<Simulated>),
    Writing {
        writer: SnapshotWriter<Simulated>,
        written: u64,
        batches: u64,
    },
    Done(Compacted),
}

impl Compacting {
    pub(crate) fn begin(journal: &Journal<Simulated>) -> Option<Self> {
        journal.compaction().map(Self::Reading)
    }

    pub(crate) fn advance(self) -> Result<Self, Error> {
        match self {
            Self::Reading(compaction) => {
                let mut batches = 0;
                let writer = compaction
                    .replay(&mut |sequence, payload| apply(&mut batches, sequence, payload).map_err(Into::into))?;
                Ok(Self::Writing {
                    writer,
                    written: 0,
                    batches,
                })
            }
            Self::Writing {
                writer,
                written,
                batches,
            } if written == batches => writer.finish().map(Self::Done),
            Self::Writing {
                mut writer,
                written,
                batches,
            } => {
                let last = batches.min(written + batches.div_ceil(3));
                let mut payload = vec![SNAPSHOT];
                payload.extend_from_slice(&(written + 1).to_le_bytes());
                payload.extend_from_slice(&last.to_le_bytes());
                writer.write(&payload)?;
                Ok(Self::Writing {
                    writer,
                    written: last,
                    batches,
                })
            }
            Self::Done(compacted) => Ok(Self::Done(compacted)),
        }
    }

    pub(crate) fn finish(mut self) -> Result<Compacted, Error> {
        loop {
            match self {
                Self::Done(compacted) => return Ok(compacted),
                unfinished => self = unfinished.advance()?,
            }
        }
    }
}
