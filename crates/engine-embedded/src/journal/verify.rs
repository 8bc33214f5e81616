//! Reads a whole journal and lists everything that is wrong with it. Changes nothing, and does not stop at the first
//! damage as a start does. For the command `seckill journal verify`, while no process has the journal open.

use std::fmt;
use std::io;

use crate::storage::{File, Storage};

use super::error::{Damage, Error, Operation};
use super::format::{Chain, Header, InstallationId, Kind, MANIFEST, segment_name, snapshot_name};
use super::manifest::Manifest;
use super::open::{Cut, Inventory, is_unused};
use super::walk::{Tail, Walker, read_header};

/// What is in a journal.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The id that the manifest carries; `None` where there is no readable manifest.
    pub installation: Option<InstallationId>,
    /// The files that are the journal, in order; a snapshot comes first.
    pub files: Vec<FileReport>,
    /// Everything that a start would refuse.
    pub problems: Vec<Problem>,
    /// Remains of a commit that was never acknowledged. No damage: the next start cuts them.
    pub torn: Option<Cut>,
    /// Files that an interrupted rotation or compaction left. No damage: the next start removes them.
    pub leftovers: Vec<String>,
}

/// What is in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReport {
    /// The file's name.
    pub name: String,
    /// Whole frames.
    pub frames: u64,
    /// How many of them stand behind the file's first damage.
    pub frames_behind_damage: u64,
    /// The file's length.
    pub bytes: u64,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file's name.
    pub file: String,
    /// Where in the file, in bytes.
    pub offset: u64,
    /// What is wrong.
    pub damage: Damage,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at offset {}: {}", self.file, self.offset, self.damage)
    }
}

impl Report {
    /// Whether a start would accept the journal.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    /// Whole frames of all files.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.files.iter().map(|file| file.frames).sum()
    }

    /// Bytes of all files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// Reads the journal of a folder. A folder without any gives an empty report.
///
/// # Errors
/// [`Error::Io`] where the disk can't be read; never for what is in the files.
pub fn verify<S: Storage>(storage: &S) -> Result<Report, Error> {
    let inventory = Inventory::read(storage)?;
    let mut verifier = Verifier {
        storage,
        report: Report::default(),
        reached: None,
    };
    let manifest = match Manifest::read(storage) {
        Ok(manifest) => manifest,
        Err(error) => {
            verifier.note(error)?;
            None
        }
    };
    verifier.report.installation = manifest.map(|manifest| manifest.installation);
    verifier.report.leftovers.clone_from(&inventory.unfinished);
    let (snapshot, newest) = match manifest {
        Some(manifest) => (manifest.snapshot, manifest.newest),
        None if verifier.report.is_sound() && never_finished(storage, &inventory)? => return Ok(verifier.report),
        None => verifier.guess(&inventory),
    };
    if snapshot > 0 {
        verifier.walk(&snapshot_name(snapshot), Kind::Snapshot, snapshot, newest)?;
    }
    for index in snapshot + 1..=newest {
        verifier.walk(&segment_name(index), Kind::Segment, index, newest)?;
    }
    verifier.check_leftovers(&inventory, snapshot, newest)?;
    Ok(verifier.report)
}

/// Whether a folder without manifest holds nothing, or what an interrupted creation left.
fn never_finished<S: Storage>(storage: &S, inventory: &Inventory) -> Result<bool, Error> {
    let first_only = inventory.segments.iter().all(|index| *index == 1);
    let nothing_else = first_only && inventory.snapshots.is_empty();
    Ok(nothing_else && (inventory.segments.is_empty() || is_unused(storage, 1)?))
}

struct Verifier<'a, S> {
    storage: &'a S,
    report: Report,
    /// Where the file before ended: its name, the offset behind its last frame, and what comes next. `None` where
    /// there was none, or where its end is unknown.
    reached: Option<(String, u64, Chain)>,
}

impl<S: Storage> Verifier<'_, S> {
    /// Without a manifest, the newest snapshot and segment of the folder.
    fn guess(&mut self, inventory: &Inventory) -> (u64, u64) {
        if self.report.is_sound() {
            self.problem(MANIFEST, 0, Damage::Missing);
        }
        let newest_of = |indexes: &std::collections::BTreeSet<u64>| indexes.last().copied().unwrap_or(0);
        (newest_of(&inventory.snapshots), newest_of(&inventory.segments))
    }

    /// Lists what is damage and passes on what is not.
    fn note(&mut self, error: Error) -> Result<(), Error> {
        let Error::Damaged { file, offset, damage } = error else {
            return Err(error);
        };
        self.report.problems.push(Problem { file, offset, damage });
        Ok(())
    }

    fn problem(&mut self, file: &str, offset: u64, damage: Damage) {
        self.report.problems.push(Problem {
            file: file.to_owned(),
            offset,
            damage,
        });
    }

    fn walk(&mut self, name: &str, kind: Kind, index: u64, newest: u64) -> Result<(), Error> {
        let file = match self.storage.open_to_read(name) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.reached = None;
                self.problem(name, 0, Damage::Missing);
                return Ok(());
            }
            Err(error) => return Err(Error::io(Operation::Open, name)(error)),
        };
        let bytes = file.len().map_err(Error::io(Operation::Read, name))?;
        let mut walked = FileReport {
            name: name.to_owned(),
            frames: 0,
            frames_behind_damage: 0,
            bytes,
        };
        match read_header(&file, name, kind, index, self.report.installation) {
            Ok(header) => self.walk_frames(&file, &header, &mut walked, index == newest)?,
            Err(error) => {
                self.reached = None;
                self.note(error)?;
            }
        }
        self.report.files.push(walked);
        Ok(())
    }

    fn walk_frames(
        &mut self,
        file: &S::File,
        header: &Header,
        walked: &mut FileReport,
        live: bool,
    ) -> Result<(), Error> {
        let name = walked.name.clone();
        let after = Chain {
            next_sequence: header.sequence,
            previous_crc: header.previous_crc,
        };
        let start = if header.kind == Kind::Snapshot {
            Chain::START
        } else {
            after
        };
        if let Some((file, offset, chain)) = self.reached.take().filter(|(.., chain)| *chain != start) {
            self.problem(
                &file,
                offset,
                Damage::Gap {
                    found: chain.next_sequence,
                    expected: header.sequence,
                },
            );
        }
        let before = self.report.problems.len();
        let mut walker = Walker::new(file, &name, header, start)?;
        loop {
            // Where the walk goes on after the frame, the tail or the damage that it came to.
            let skip = match walker.step() {
                Ok(Some(_)) => {
                    walked.frames += 1;
                    walked.frames_behind_damage += u64::from(before < self.report.problems.len());
                    continue;
                }
                Ok(None) => self.judge_tail(&mut walker, &name, live && header.kind == Kind::Segment)?,
                Err(Error::Damaged { file, offset, damage }) => {
                    self.report.problems.push(Problem { file, offset, damage });
                    // The frame itself is whole: the walk goes on with it.
                    Some(offset - 1)
                }
                Err(error) => return Err(error),
            };
            match skip {
                Some(offset) if walker.skip_damage(offset)? => {}
                _ => break,
            }
        }
        let (end, chain) = (walker.offset(), walker.chain());
        if header.kind == Kind::Segment {
            self.reached = Some((name, end, chain));
            return Ok(());
        }
        let complete = walked.frames == header.frames && walked.bytes == header.bytes;
        if before == self.report.problems.len() && !complete {
            self.problem(&name, end, Damage::Frame);
        }
        self.reached = Some((name, header.bytes, after));
        Ok(())
    }

    /// Lists what is wrong with a tail; returns its offset where whole frames may follow.
    fn judge_tail(&mut self, walker: &mut Walker<'_, S::File>, name: &str, live: bool) -> Result<Option<u64>, Error> {
        match walker.tail() {
            Ok(Tail::Clean) => Ok(None),
            Ok(Tail::Torn { from, to }) if live => {
                self.report.torn = Some(Cut {
                    file: name.to_owned(),
                    offset: from,
                    bytes: to - from,
                });
                Ok(None)
            }
            Ok(Tail::Torn { from, .. }) => {
                self.problem(name, from, Damage::Frame);
                Ok(None)
            }
            Err(Error::Damaged { file, offset, damage }) => {
                self.report.problems.push(Problem { file, offset, damage });
                Ok(Some(offset))
            }
            Err(error) => Err(error),
        }
    }

    fn check_leftovers(&mut self, inventory: &Inventory, snapshot: u64, newest: u64) -> Result<(), Error> {
        let others = inventory.snapshots.iter().filter(|index| **index != snapshot);
        self.report.leftovers.extend(others.map(|index| snapshot_name(*index)));
        for index in &inventory.segments {
            let name = segment_name(*index);
            if *index <= snapshot || (*index == newest + 1 && is_unused(self.storage, *index)?) {
                self.report.leftovers.push(name);
            } else if newest < *index {
                self.problem(&name, 0, Damage::Unlisted);
            }
        }
        Ok(())
    }
}
