//! A journal in a real temporary folder, small enough that a few dozen payloads fill several segments.

use std::fs;
use std::path::{Path, PathBuf};

use seckill_engine_embedded::journal::{Compacted, Error, InstallationId, Journal, Opened, Options};
use seckill_engine_embedded::storage::Disk;
use tempfile::TempDir;

pub(crate) const INSTALLATION: InstallationId = *b"one installation";
pub(crate) const SECTOR: u64 = 512;

/// Fifteen frames of one sector fill a segment.
pub(crate) const OPTIONS: Options = Options {
    segment_bytes: 8192,
    allocate_bytes: 2048,
    frame_bytes_max: 2000,
};

/// What a start found: the journal, and each payload with the sequence it came under.
pub(crate) type Start = (Opened<Disk>, Vec<(u64, Vec<u8>)>);

pub(crate) struct Folder {
    temporary: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self {
            temporary: tempfile::tempdir().unwrap(),
        }
    }

    /// A folder with a journal of `payload(1)` to `payload(count)`.
    pub(crate) fn with_payloads(count: u64) -> Self {
        let folder = Self::new();
        commit(&mut folder.start().0.journal, 1..=count);
        folder
    }

    /// A snapshot of payloads 1 to 30, sealed segments 3 and 4 with 31 to 60, live segment 5 with 61 to 70.
    pub(crate) fn with_everything() -> Self {
        let folder = Self::new();
        let mut journal = folder.start().0.journal;
        commit(&mut journal, 1..=31);
        compact(&journal);
        commit(&mut journal, 32..=70);
        assert_eq!(
            folder.names(),
            [
                "journal-0000000002.snapshot",
                "journal-0000000003.segment",
                "journal-0000000004.segment",
                "journal-0000000005.segment",
                "journal.manifest"
            ]
        );
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.temporary.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn disk(&self) -> Disk {
        Disk::open(self.path()).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    pub(crate) fn edit(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(self.file(name)).unwrap();
        change(&mut bytes);
        fs::write(self.file(name), bytes).unwrap();
    }

    pub(crate) fn flip(&self, name: &str, offset: u64) {
        self.edit(name, |bytes| bytes[usize::try_from(offset).unwrap()] ^= 0x10);
    }

    pub(crate) fn try_start(&self) -> Result<Start, Error> {
        let mut replayed = Vec::new();
        let opened = Journal::create_or_open(self.disk(), OPTIONS, INSTALLATION, &mut |sequence, payload| {
            replayed.push((sequence, payload.to_vec()));
            Ok(())
        })?;
        Ok((opened, replayed))
    }

    pub(crate) fn start(&self) -> Start {
        self.try_start().unwrap()
    }

    /// Starts and checks that exactly `payload(1)` to `payload(count)` are there, then that the journal goes on.
    pub(crate) fn assert_holds(&self, count: u64) -> Opened<Disk> {
        let (mut opened, replayed) = self.start();
        let payloads: Vec<_> = replayed.into_iter().map(|(_, payload)| payload).collect();
        assert_eq!(payloads, (1..=count).map(payload).collect::<Vec<_>>());
        assert_eq!(opened.journal.next_sequence(), count + 1);
        commit(&mut opened.journal, count + 1..=count + 1);
        opened
    }
}

/// A payload that no other number has, shorter than a sector.
pub(crate) fn payload(number: u64) -> Vec<u8> {
    format!("batch {number} ")
        .repeat(20 + usize::try_from(number % 7).unwrap())
        .into_bytes()
}

pub(crate) fn commit(journal: &mut Journal<Disk>, numbers: impl IntoIterator<Item = u64>) {
    for number in numbers {
        assert_eq!(journal.commit(&payload(number)).unwrap(), number);
    }
}

/// Compacts by copying every payload into the snapshot.
pub(crate) fn compact(journal: &Journal<Disk>) -> Compacted {
    let mut payloads = Vec::new();
    let compaction = journal.compaction().unwrap();
    let mut writer = compaction
        .replay(&mut |_, payload| {
            payloads.push(payload.to_vec());
            Ok(())
        })
        .unwrap();
    for payload in payloads {
        writer.write(&payload).unwrap();
    }
    writer.finish().unwrap()
}
