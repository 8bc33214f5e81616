//! How a server ends, or stands still.

use rustix::process::{Pid, Signal, kill_process};

use super::Redis;

impl Redis {
    /// Ends the process at once (SIGKILL); its folder stays for [`Redis::start_again`].
    ///
    /// # Panics
    /// Where it is not running.
    pub fn kill(&mut self) {
        let mut child = self.child.take().expect("running");
        child.kill().expect("a child of ours");
        child.wait().expect("a child of ours");
    }

    /// Stops the process where it stands, as a hanging machine would, until [`Redis::resume`].
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
        let child = self.child.as_ref().expect("running");
        kill_process(Pid::from_child(child), signal).expect("a child of ours");
    }

    /// Leaves the process to others; its id.
    pub(super) fn leave(&mut self) -> u32 {
        self.child.take().expect("running").id()
    }
}
