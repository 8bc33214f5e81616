//! What a database that can't be opened is refused for.

use std::fmt;

use seckill_ledger::Error;

use super::causes::is_final;
use super::errors::Stop;

impl Stop {
    /// The same where `target` was to be opened: waiting does not help where its server lets nobody in.
    pub(super) fn at_opening(self, target: &impl fmt::Display) -> Error {
        let is_final = matches!(&self, Self::Sql(error) if is_final(error));
        let is_ours = matches!(&self, Self::Ledger(_));
        match self.into() {
            Error::Outage(said) if is_final => Error::Rejected(format!("{target} can't be opened: {said}")),
            Error::Outage(said) if !is_ours => Error::Outage(format!("{target}: {said}")),
            Error::OutcomeUnknown(said) => Error::OutcomeUnknown(format!("{target}: {said}")),
            other => other,
        }
    }
}
