//! Whether a ledger wrote something while one request was carried out: from then on nobody may answer it that nothing was done.
//!
//! What a request does beyond its write (reading the row again, telling the store) may fail by itself. Ledgers note their writes here,
//! and whoever words the answer asks once, so no step in between has to remember. Outside of a request nothing is noted.

use std::cell::Cell;
use std::future::Future;

use crate::Error;

tokio::task_local! {
    static WRITTEN: Cell<bool>;
}

/// Carries out `request`, and notes for [`is_noted`] what ledgers write meanwhile. What it spawns is not its own any more.
pub async fn noting<T>(request: impl Future<Output = T>) -> T {
    WRITTEN.scope(Cell::new(false), request).await
}

/// Notes a write by what came of it: one whose answer was lost may have been done. To be called by every ledger.
///
/// # Errors
/// What was passed.
pub fn noted<T>(write: Result<T, Error>) -> Result<T, Error> {
    if matches!(write, Ok(_) | Err(Error::OutcomeUnknown(_))) {
        note();
    }
    write
}

/// Notes that something was changed for good that no ledger knows of.
pub fn note() {
    // Outside of a request there is nobody to be told.
    let _ = WRITTEN.try_with(|written| written.set(true));
}

/// Whether anything was written, or may have been, since the request began.
#[must_use]
pub fn is_noted() -> bool {
    WRITTEN.try_with(Cell::get).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn after(write: Result<(), Error>) -> bool {
        let request = async {
            let _ = noted(write);
            is_noted()
        };
        noting(request).now_or_never().expect("it waits for nothing")
    }

    #[test]
    fn what_was_written_or_may_have_been_is_noted_in_its_request_alone() {
        assert!(after(Ok(())));
        assert!(after(Err(Error::OutcomeUnknown("cut off".to_owned()))));
        assert!(!after(Err(Error::Outage("locked".to_owned()))));
        assert!(!after(Err(Error::KeyReused)));
        assert!(noted(Ok(())).is_ok() && !is_noted(), "outside of any request");
    }
}
