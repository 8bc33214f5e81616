//! A place of its own on a real database server: what one test has for itself.

use std::io::{BufRead as _, BufReader, Write as _};
use std::marker::PhantomData;
use std::process::{Child, Stdio};

use crate::own::Own;
use crate::processes::{run, text};
use crate::shared::{Kind, Shared};

/// A fresh schema or database; it goes with the server.
#[derive(Debug)]
pub struct Database<K> {
    server: Host,
    place: String,
    kind: PhantomData<fn() -> K>,
}

#[derive(Debug)]
enum Host {
    Shared(Shared),
    Own(Own),
}

impl<K: Kind> Database<K> {
    /// Makes an empty one on the server that tests share.
    ///
    /// # Panics
    /// Where the server is missing or does not start.
    #[must_use]
    pub fn fresh() -> Self {
        Self::on(Host::Shared(Shared::join::<K>()))
    }

    /// Makes one on a server that nobody else uses, with settings of the form `name=value`; it ends with this value.
    ///
    /// # Panics
    /// Where the server is missing or does not start.
    #[must_use]
    pub fn alone(settings: &[&str]) -> Self {
        Self::on(Host::Own(Own::start::<K>(settings)))
    }

    fn on(server: Host) -> Self {
        let place = Shared::fresh_name();
        let mut client = K::client(server.port(), None);
        let made = run(client.args([K::STATEMENT, &format!("{} {place}", K::MAKE_PLACE)]));
        assert!(made.status.success(), "{}", text(&made));
        let kind = PhantomData;
        Self { server, place, kind }
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        K::url(self.server.port(), &self.place)
    }

    /// Where the server listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Kills the server, which nobody else uses.
    ///
    /// # Panics
    /// Where others use it.
    pub fn kill(&mut self) {
        self.own().kill();
    }

    /// Starts the killed server again and waits until it answers.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn start_again(&mut self) {
        self.own().start_again::<K>();
    }

    fn own(&mut self) -> &mut Own {
        match &mut self.server {
            Host::Own(own) => own,
            Host::Shared(_) => panic!("other tests use this server"),
        }
    }

    /// Runs statements by the server's own client; gives what they show.
    ///
    /// # Panics
    /// Where the server refuses one.
    #[must_use]
    pub fn say(&self, statements: &str) -> String {
        let output = run(K::client(self.server.port(), Some(&self.place)).args([K::STATEMENT, statements]));
        assert!(output.status.success(), "{statements}: {}", text(&output));
        text(&output)
    }

    /// Runs statements by the server's own client; false where the server refuses one.
    #[must_use]
    pub fn tries(&self, statements: &str) -> bool {
        let mut client = K::client(self.server.port(), Some(&self.place));
        run(client.args([K::STATEMENT, statements])).status.success()
    }

    /// Runs statements in a session that stays as they left it, with its locks, until it is dropped.
    ///
    /// # Panics
    /// Where they are not done.
    #[must_use]
    pub fn hold(&self, statements: &str) -> Held {
        let mut client = K::client(self.server.port(), Some(&self.place));
        let mut child = client
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the client starts");
        let said = format!("{statements};\nSELECT 'it is held';\n");
        let stdin = child.stdin.as_mut().expect("is piped");
        stdin.write_all(said.as_bytes()).expect("the client reads");
        let mut lines = BufReader::new(child.stdout.take().expect("is piped")).lines();
        let held = lines.any(|line| line.is_ok_and(|line| line.contains("it is held")));
        assert!(held, "{statements}");
        Held(child)
    }
}

impl Host {
    const fn port(&self) -> u16 {
        match self {
            Self::Shared(shared) => shared.port,
            Self::Own(own) => own.port,
        }
    }
}

/// A session of somebody else. Dropping it ends it.
#[derive(Debug)]
pub struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
