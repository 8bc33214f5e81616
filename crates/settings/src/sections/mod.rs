//! The narrowed settings: one plain struct for each part of the server, and the rules between values.

mod access;
mod alerts;
mod clients;
pub(crate) mod durability;
mod keys;
mod limits;
mod sale;
mod server;
mod storage;
mod webhook_secret;

use std::path::PathBuf;

pub use access::{Auth, AuthMode, Challenge, DeviceRule, Identity};
pub use alerts::Alerts;
pub use clients::Client;
pub use durability::Durability;
pub use keys::{JwtKey, KeyFile, PublicKey};
pub use limits::{Abuse, Limits, RateLimiting};
pub use sale::{AfterEnd, DeadLetters, OnCancel, Orders, Payments, Polls, Schedule, Streams, Units};
pub use server::{Admin, Log, LogFormat, Server};
pub use storage::{Database, Queue, Store};

use crate::effective::Effective;
use crate::error::Error;
use crate::gather::{Gathered, gather};
use crate::reader::Reader;
use crate::sources::Sources;

/// Everything that was typed, narrowed. Each field goes to the part that needs it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folder of the journal, the SQLite database and the generated admin token.
    pub data_dir: PathBuf,
    /// The public port.
    pub server: Server,
    /// The admin port.
    pub admin: Admin,
    /// Whom a request comes from.
    pub auth: Auth,
    /// Who may sign requests for others.
    pub clients: Vec<Client>,
    /// Where stock and queue live.
    pub store: Store,
    /// Where orders live.
    pub database: Database,
    /// How often somebody may come.
    pub limits: Limits,
    /// When somebody is blocked by himself.
    pub abuse: Abuse,
    /// What sales may ask of their buyers.
    pub challenge: Challenge,
    /// The way from ticket to order.
    pub queue: Queue,
    /// Unpaid orders.
    pub orders: Orders,
    /// Units of cancelled orders.
    pub units: Units,
    /// Tickets that could not be settled.
    pub dead_letters: DeadLetters,
    /// Payment.
    pub payments: Payments,
    /// Who is told what goes wrong.
    pub alerts: Alerts,
    /// Result streams.
    pub streams: Streams,
    /// What happens by the clock.
    pub schedule: Schedule,
    /// What a waiting buyer is told.
    pub polls: Polls,
    /// Log lines.
    pub log: Log,
    /// What is legal but risky, a sentence each. The binary writes them to its log at start-up.
    pub warnings: Vec<String>,
    /// Every value with its source, to be printed.
    pub effective: Effective,
}

impl Settings {
    /// Reads and narrows all settings.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong; [`Settings::check`] tells all.
    pub fn load(sources: &Sources) -> Result<Self, Error> {
        Self::check(sources).map_err(|mut errors| errors.swap_remove(0))
    }

    /// Reads and narrows all settings.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, in the order of the sources; never empty.
    pub fn check(sources: &Sources) -> Result<Self, Vec<Error>> {
        let Gathered {
            effective,
            mut errors,
            mut warnings,
        } = gather(sources);
        let reader = Reader::new(&effective);
        let mut settings = Self::narrow(&reader, &effective);
        let (more_errors, more_warnings) = reader.into_findings();
        errors.extend(more_errors);
        if !errors.is_empty() {
            return Err(errors);
        }
        warnings.extend(more_warnings);
        settings.warnings = warnings;
        Ok(settings)
    }

    /// Who buyers are told by. `serve` calls this before it opens a port.
    ///
    /// # Errors
    ///
    /// No key is set to check tokens with; the sentence says how to make one.
    pub fn require_auth(&self) -> Result<Identity<'_>, Error> {
        self.auth.identity()
    }

    fn narrow(reader: &Reader<'_>, effective: &Effective) -> Self {
        let data_dir: PathBuf = reader.get("data_dir");
        let server = Server::narrow(reader);
        let public = !server.listen.ip().is_loopback();
        let auth = Auth::narrow(reader, &server);
        let devices = auth.devices;
        Self {
            admin: Admin::narrow(reader, &server),
            auth,
            clients: clients::narrow(reader),
            store: Store::narrow(reader),
            database: Database::narrow(reader, &data_dir),
            limits: Limits::narrow(reader, public),
            abuse: Abuse::narrow(reader, devices),
            challenge: Challenge::narrow(reader),
            queue: Queue::narrow(reader),
            orders: Orders::narrow(reader),
            units: Units::narrow(reader),
            dead_letters: DeadLetters::narrow(reader),
            payments: Payments::narrow(reader, public),
            alerts: Alerts::narrow(reader),
            streams: Streams::narrow(reader),
            schedule: Schedule::narrow(reader),
            polls: Polls::narrow(reader),
            log: Log::narrow(reader),
            data_dir,
            server,
            warnings: Vec::new(),
            effective: effective.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::table;

    #[test]
    fn every_key_has_a_reader() {
        let effective = Effective::defaults();
        let reader = Reader::new(&effective);
        let _ = Settings::narrow(&reader, &effective);
        let keys: BTreeSet<String> = table::keys().iter().map(|key| key.name.clone()).collect();
        assert_eq!(reader.taken(), keys);
    }
}
