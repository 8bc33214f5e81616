//! Opens a ledger: connections and threads, tables of this version, and the wait for a file that somebody else has locked.

use std::path::Path;

use parking_lot::Mutex;
use seckill_ledger::Error;

use super::connection::{self, Access, Place};
use super::errors::{Stop, at, is_locked};
use super::{Engine, Options, Sqlite, Threads, migrate};
use crate::outages::Watch;
use crate::threads::Crew;

impl Sqlite {
    /// Opens the file at `path`, makes it where it is missing, and brings its tables to this version.
    ///
    /// # Errors
    /// [`Error::Outage`] where the file can't be used; [`Error::Rejected`] where it is a newer version's, another program's, or was
    /// changed by hand.
    pub fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        Self::open_waiting(path, options, || false)
    }

    /// The same for a file that may be locked by another process: while it is, `again` is asked after each attempt whether there
    /// is to be another one, and does the waiting in between. Nothing else is tried twice.
    ///
    /// # Errors
    /// As [`Sqlite::open`].
    pub fn open_waiting(path: &Path, options: &Options, mut again: impl FnMut() -> bool) -> Result<Self, Error> {
        let place = Place::File(path.to_owned());
        loop {
            match Self::open_place(&place, options) {
                Err(Stop::Sqlite(error)) if is_locked(&error) && again() => {}
                opened => return opened.map_err(|stop| at(path, stop.into())),
            }
        }
    }

    /// Opens an empty database in memory, which ends with this value.
    ///
    /// # Errors
    /// As [`Sqlite::open`].
    pub fn open_in_memory(options: &Options) -> Result<Self, Error> {
        Ok(Self::open_place(&Place::Memory, options)?)
    }

    fn open_place(place: &Place, options: &Options) -> Result<Self, Stop> {
        let mut writing = connection::open(place, Access::Write, options)?;
        migrate::migrate(&mut writing)?;
        let within = options.answer_within;
        let [writes, reads] = Watch::both();
        let engine = match (options.threads, place) {
            (Threads::Inline, _) => Engine::Inline(Mutex::new(writing)),
            (Threads::Own { .. }, Place::Memory) => Engine::Threads {
                writer: Crew::start("ledger-writer", vec![writing], writes)?.answering_people_within(within),
                readers: None,
            },
            (Threads::Own { readers }, Place::File(_)) => {
                let reading = (0..readers.clamp(1, Threads::READERS_MAX))
                    .map(|_| connection::open(place, Access::Read, options))
                    .collect::<Result<Vec<_>, _>>()?;
                Engine::Threads {
                    writer: Crew::start("ledger-writer", vec![writing], writes)?.answering_people_within(within),
                    readers: Some(Crew::start("ledger-reader", reading, reads)?.answering_people_within(within)),
                }
            }
        };
        Ok(Self { engine })
    }
}
