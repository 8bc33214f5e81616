//! A process that stands still where it is, as one on a machine that hangs.

use rustix::process::{Pid, Signal, kill_process};

use crate::Server;

impl Server {
    /// Stops the process where it stands, until [`Server::resume`].
    ///
    /// # Panics
    /// Where it is not running.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    ///
    /// # Panics
    /// Where it is not running.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process id"), signal).expect("a child of ours");
    }
}
