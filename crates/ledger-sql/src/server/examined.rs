//! Looks a server over from outside of the crews: they may be busy, or wait for it, and whether it takes one more connection is to be seen, too.

use std::sync::Arc;
use std::thread;

use async_trait::async_trait;
use seckill_ledger::{Error, Examined};
use seckill_sale::{ActivityId, Clock, Finding};
use tokio::sync::oneshot;

use super::findings::Looked;
use super::wire::Target;
use super::{Server, ServerOptions};

impl Server {
    /// Looks over a database that this process has not opened, and that may not be fit to be opened. It blocks until that is done. `options`
    /// are those that a process would open it with.
    ///
    /// # Errors
    /// [`Error::Rejected`] where `url` is no address.
    pub fn findings(url: &str, options: ServerOptions, clock: &dyn Clock) -> Result<Vec<Finding>, Error> {
        let target = Target::parse(url)?;
        let looked = Looked {
            target: &target,
            options,
            present: 0,
            sale: None,
        };
        // On a thread of its own, because the caller may be one that must not wait for another runtime.
        let found = thread::scope(|scope| scope.spawn(|| looked.findings(|| clock.now())).join());
        found.map_err(|_| Error::Outage("looking the database over was broken off".to_owned()))
    }
}

#[async_trait]
impl Examined for Server {
    async fn examine(&self, clock: Arc<dyn Clock>, sale: Option<ActivityId>) -> Vec<Finding> {
        let late = || vec![Finding::failed("connection", "the database does not answer")];
        let Ok(place) = self.examinations.clone().try_acquire_owned() else {
            return late();
        };
        let (answer, answered) = oneshot::channel();
        let (target, options, places) = (self.target.clone(), self.options, Arc::clone(&self.places));
        let look = move || {
            let looked = Looked {
                target: &target,
                options,
                present: places.taken(),
                sale,
            };
            // Whoever asked may have gone.
            let _ = answer.send(looked.findings(|| clock.now()));
            drop(place);
        };
        if let Err(error) = thread::Builder::new().name("ledger-examiner".to_owned()).spawn(look) {
            return vec![Finding::failed(
                "connection",
                format!("no thread to look at it: {error}"),
            )];
        }
        let found = match self.options.answer_within {
            Some(limit) => tokio::time::timeout(limit, answered)
                .await
                .unwrap_or_else(|_| Ok(late())),
            None => answered.await,
        };
        found.unwrap_or_else(|_| {
            vec![Finding::failed(
                "connection",
                "looking the database over was broken off",
            )]
        })
    }
}
