//! When a connection is made and when it is given back: others may want its place at the server.

use std::time::{Duration, Instant};
use std::{mem, thread};

use super::{Connection, Refused};
use crate::server::causes::is_crowded;
use crate::server::places::Over;
use crate::server::session::wait;
use crate::station::Station;

/// How long a place at a server that has none left is asked for before the job that wants it is refused.
const PLACE_WAIT_MAX: Duration = Duration::from_secs(2);

/// Between two such questions at first, and at last. Who has given his place up waits for the latter, so that others ask before him.
const PLACE_PAUSE_MIN: Duration = Duration::from_millis(25);
const PLACE_PAUSE_MAX: Duration = Duration::from_millis(400);

impl Station for Connection {
    fn holds(&self) -> bool {
        self.session.is_some()
    }

    /// Where the server has no connection left it asks again for a while, and less and less often.
    fn get_ready(&mut self, wanted: &dyn Fn() -> bool) {
        self.refused = None;
        if self.session.is_some() {
            return;
        }
        let (begun, mut pause) = (Instant::now(), PLACE_PAUSE_MIN);
        if mem::take(&mut self.gave_way) {
            thread::sleep(PLACE_PAUSE_MAX);
        }
        while wanted() {
            match self.connect() {
                Ok(session) => {
                    self.session = Some(session);
                    return;
                }
                Err(error) if is_crowded(&error) && begun.elapsed() < PLACE_WAIT_MAX => {
                    // Not all at the same moment: who waits is of several processes.
                    let odd = begun.elapsed().subsec_micros() % 1_000;
                    thread::sleep(pause.mul_f64(0.5 + f64::from(odd) / 2_000.0));
                    pause = (pause * 2).min(PLACE_PAUSE_MAX);
                }
                Err(error) => {
                    self.refused = Some(Refused { begun, error });
                    return;
                }
            }
        }
    }

    /// While it tried in vain, another one may have done the job: a job that came later is tried for as long itself.
    fn next_was_asked_at(&mut self, asked: Instant) {
        if self.refused.as_ref().is_some_and(|refused| refused.begun <= asked) {
            self.get_ready(&|| true);
        }
    }

    fn job_done(&mut self, waits: bool) {
        let Some(over) = self.session.as_ref().and_then(|session| session.is_over(waits)) else {
            return;
        };
        // Only where somebody lacks one has anybody to come first.
        self.gave_way = over == Over::Turn;
        self.rest();
    }

    fn rest(&mut self) {
        if let Some(session) = self.session.take() {
            let goodbye = async {
                session.close().await;
                Ok(())
            };
            // A server that does not answer does not keep us.
            let _ = wait(&self.runtime, Duration::from_secs(1), goodbye);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use seckill_ledger::Error;

    use super::*;
    use crate::server::ServerOptions;
    use crate::server::access::Access;
    use crate::server::wire::Target;

    #[test]
    fn a_job_is_refused_only_by_an_attempt_to_connect_that_began_after_it_was_asked_for() {
        for (scheme, came_before) in [
            ("postgres", true),
            ("postgres", false),
            ("mariadb", true),
            ("mariadb", false),
        ] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let target = Target::parse(&format!("{scheme}://nobody@127.0.0.1:{port}/nothing")).unwrap();
            let mut connection = Connection::new(&target, Access::Write, ServerOptions::default()).unwrap();
            let before = Instant::now();
            let hangs_up = thread::spawn(move || drop(listener.accept().unwrap()));
            connection.get_ready(&|| true);
            hangs_up.join().unwrap();
            connection.next_was_asked_at(if came_before { before } else { Instant::now() });
            let done = connection.in_transaction(|_| Ok(()));
            // Nobody listens any more: a second attempt hears something else.
            let Err(Error::Outage(why)) = done else {
                panic!("{done:?}")
            };
            assert_eq!(why != "connection refused", came_before, "{scheme}: {why}");
        }
    }
}
