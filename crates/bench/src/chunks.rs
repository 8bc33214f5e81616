//! More requests than can be written out at once, sent a chunk at a time: a million of them would take the client more memory than the
//! server.

use std::sync::Arc;

use crate::Result;
use crate::jobs::Jobs;
use crate::load::{self, Load};
use crate::outcome::LoadReport;
use crate::target::Target;

/// Requests that are written out at once.
pub(crate) const CHUNK: usize = 100_000;

/// Where chunks are sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sender<'a> {
    /// The server.
    pub(crate) target: &'a Target,
    /// Connections of the client, at most.
    pub(crate) connections: usize,
}

impl Sender<'_> {
    /// Sends `count` requests in a closed loop: `write` writes the next so many of them, `seen` is shown what came of them.
    pub(crate) fn send(
        &self,
        count: usize,
        mut write: impl FnMut(usize) -> Jobs,
        mut seen: impl FnMut(&Jobs, &LoadReport) -> Result<()>,
    ) -> Result<()> {
        let mut left = count;
        while 0 < left {
            let chunk = left.min(CHUNK);
            let jobs = Arc::new(write(chunk));
            seen(&jobs, &self.put(&jobs)?)?;
            left -= chunk;
        }
        Ok(())
    }

    /// Sends these once each.
    pub(crate) fn put(&self, jobs: &Arc<Jobs>) -> Result<LoadReport> {
        load::run(&Load {
            connections: self.connections.min(jobs.len()),
            ..Load::once_each(self.target.public, Arc::clone(jobs))
        })
    }
}

/// Answers with other statuses than these, and silence.
pub(crate) fn wrong(load: &LoadReport, statuses: &[u16]) -> Vec<String> {
    let others = load
        .outcomes
        .iter()
        .filter(|outcome| !statuses.contains(&outcome.status));
    let mut said: Vec<String> = others
        .map(|outcome| format!("{} answers {}, {statuses:?} expected", outcome.count, outcome.status))
        .collect();
    if 0 < load.unanswered_total() {
        said.push(format!("{} requests without an answer", load.unanswered_total()));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::Admin;
    use crate::testing::Stub;
    use crate::token::{Signer, UserIds};

    #[test]
    fn everything_is_sent_and_what_is_wrong_is_said() {
        let stub = Stub::answering(|_, number| Stub::json(if number == 3 { 500 } else { 202 }, "{}").into());
        let target = Target::of(stub.address, Admin::new(stub.address, "x"), Signer::new(b"k", 1));
        let (sender, mut users) = (
            Sender {
                target: &target,
                connections: 4,
            },
            UserIds::seeded(1),
        );
        let mut said = Vec::new();
        let mut sizes = Vec::new();
        let write = |count| Jobs::purchases(target.public, 1, count, &target.signer, &mut users);
        let sent = sender.send(7, write, |jobs, load| {
            sizes.push((jobs.len(), load.accepted));
            said.extend(wrong(load, &[202]));
            Ok(())
        });
        sent.unwrap();
        assert_eq!(sizes, [(7, 6)]);
        assert_eq!(said, ["1 answers 500, [202] expected"]);
    }
}
