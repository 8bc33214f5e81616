//! Makes a journal startable again whose last segment is damaged, at the price of what stands behind the damage.
//!
//! Only an operator can decide that: the frames that go were acknowledged. The damaged file is copied aside first. For
//! the command `seckill journal repair`, while no process has the journal open.

use crate::storage::{File, Storage};

use super::error::{Error, Operation};
use super::verify::{Report, verify};

/// Bytes copied at once.
const PIECE_BYTES: usize = 1 << 20;
/// Copies kept beside each other.
const COPIES_MAX: u32 = 1000;

/// What a repair has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The segment that was cut.
    pub file: String,
    /// Where it was cut, in bytes.
    pub offset: u64,
    /// Name of the copy of the file as it was. Nothing ever removes it.
    pub copy: String,
    /// Whole frames that stood behind the damage and are gone, besides those that were damaged.
    pub frames_lost: u64,
}

/// Cuts the last segment at its first damage. `None` where nothing is wrong; a torn tail is nothing wrong.
///
/// # Errors
/// [`Error::Damaged`] with the first damage that lies elsewhere, in which case nothing is changed: restore a copy, or
/// rebuild from the ledger. [`Error::Full`] where the copy has no space, [`Error::Io`].
pub fn repair<S: Storage>(storage: &S) -> Result<Option<Repaired>, Error> {
    let report = verify(storage)?;
    let Some((file, offset)) = first_damage(&report)? else {
        return Ok(None);
    };
    let copy = copy_aside(storage, &file)?;
    let damaged = storage
        .open_to_write(&file)
        .map_err(Error::io(Operation::Open, &file))?;
    damaged.set_len(offset).map_err(Error::io(Operation::Resize, &file))?;
    damaged.sync_data().map_err(Error::io(Operation::Sync, &file))?;
    let frames_lost = report.files.last().map_or(0, |last| last.frames_behind_damage);
    tracing::warn!(
        file,
        offset,
        copy,
        frames_lost,
        "the journal was cut at its first damage"
    );
    Ok(Some(Repaired {
        file,
        offset,
        copy,
        frames_lost,
    }))
}

/// The first damage of the last segment; an error where any damage lies elsewhere, or in its header.
fn first_damage(report: &Report) -> Result<Option<(String, u64)>, Error> {
    let last = report.files.last().map(|file| file.name.as_str());
    for problem in &report.problems {
        if last != Some(problem.file.as_str()) || problem.offset == 0 {
            return Err(Error::damaged(&problem.file, problem.offset, problem.damage.clone()));
        }
    }
    Ok(report
        .problems
        .first()
        .map(|problem| (problem.file.clone(), problem.offset)))
}

/// Copies a file durably under a name that the journal does not take for its own.
fn copy_aside<S: Storage>(storage: &S, name: &str) -> Result<String, Error> {
    let names = storage.list().map_err(Error::io(Operation::List, ""))?;
    let mut candidates = (1..=COPIES_MAX).map(|number| format!("damaged-{number}-{name}"));
    let copy = candidates.find(|candidate| !names.contains(candidate));
    let copy = copy.ok_or(Error::Options("too many copies of damaged files; remove some"))?;
    let from = storage.open_to_read(name).map_err(Error::io(Operation::Open, name))?;
    let to = storage.create(&copy).map_err(Error::io(Operation::Create, &copy))?;
    let mut piece = vec![0; PIECE_BYTES];
    let mut offset = 0;
    loop {
        let read = from
            .read_full_at(&mut piece, offset)
            .map_err(Error::io(Operation::Read, name))?;
        to.write_all_at(&piece[..read], offset)
            .map_err(Error::io(Operation::Write, &copy))?;
        offset += read as u64;
        if read < piece.len() {
            break;
        }
    }
    to.sync_data().map_err(Error::io(Operation::Sync, &copy))?;
    storage.sync_folder().map_err(Error::io(Operation::SyncFolder, &copy))?;
    Ok(copy)
}
