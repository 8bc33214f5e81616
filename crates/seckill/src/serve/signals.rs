//! Signals: SIGTERM and SIGINT end the process orderly, a second one hurries it, SIGHUP is noted and ignored. While the process starts,
//! they end it at once: nothing was answered yet, and a disk that hangs would keep it for ever.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::{Failure, Outcome};

pub(crate) struct Signals {
    runtime: Runtime,
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Takes the signals over. From here on none of them kills the process by default.
    pub(crate) fn install() -> Result<Self, Failure> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime needs descriptors only");
        let guard = runtime.enter();
        let take = |kind| signal(kind).map_err(|error| Failure::failed(format!("signals: {error}")));
        let (terminate, interrupt, hang_up) = (
            take(SignalKind::terminate())?,
            take(SignalKind::interrupt())?,
            take(SignalKind::hangup())?,
        );
        // A limit on the size of files shall be a failed write, as a full disk is, and not the end of the process.
        let file_size = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
        drop(take(file_size)?);
        drop(guard);
        Ok(Self {
            runtime,
            terminate,
            interrupt,
            hang_up,
        })
    }

    /// Lets some time pass; false where a signal told the process to end meanwhile.
    pub(crate) fn pause(&mut self, time: Duration) -> bool {
        let Self {
            runtime,
            terminate,
            interrupt,
            ..
        } = self;
        runtime.block_on(async {
            tokio::select! {
                _ = terminate.recv() => false,
                _ = interrupt.recv() => false,
                () = tokio::time::sleep(time) => true,
            }
        })
    }

    /// Waits for a signal, or for the journal to break: then the process must be restarted, and says so by its exit code.
    pub(crate) fn wait(&mut self, broke: impl Future<Output = ()>) -> Outcome {
        let Self {
            runtime,
            terminate,
            interrupt,
            hang_up,
        } = self;
        runtime.block_on(async {
            tokio::pin!(broke);
            loop {
                tokio::select! {
                    _ = terminate.recv() => return Ok(()),
                    _ = interrupt.recv() => return Ok(()),
                    _ = hang_up.recv() => tracing::info!("SIGHUP: settings are read at start only; switches change while running"),
                    () = &mut broke => {
                        return Err(Failure::failed("a write to the journal failed; nothing is admitted until a restart"));
                    }
                }
            }
        })
    }

    /// Calls `hurry` at the next signal, from a thread of its own that ends with the process.
    pub(crate) fn on_next(mut self, hurry: impl FnOnce() + Send + 'static) {
        let waiting = thread::Builder::new().name("second-signal".to_owned()).spawn(move || {
            if self.wait(std::future::pending()).is_ok() {
                tracing::warn!("a second signal: open requests are cut off");
                hurry();
            }
        });
        if let Err(error) = waiting {
            tracing::warn!(%error, "a second signal will not be noticed");
        }
    }
}

/// How long a start that is told to end may take to say so by itself.
const START_GRACE: Duration = Duration::from_secs(2);

/// Ends the process at a signal, until it is dropped.
pub(crate) struct StartGuard(Option<SyncSender<()>>);

impl StartGuard {
    /// Watches from now on.
    pub(crate) fn watch() -> Result<Self, Failure> {
        let signals = Signals::install()?;
        let (started, over) = sync_channel(1);
        let watching = thread::Builder::new().name("start".to_owned());
        let spawned = watching.spawn(move || end_at_signal(signals, &over));
        spawned.map_err(|error| Failure::failed(format!("a thread can't be started: {error}")))?;
        Ok(Self(Some(started)))
    }
}

impl Drop for StartGuard {
    fn drop(&mut self) {
        // The thread sees that this end is gone.
        drop(self.0.take());
    }
}

fn end_at_signal(mut signals: Signals, over: &Receiver<()>) {
    loop {
        if matches!(over.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Disconnected)) {
            return;
        }
        if signals.pause(Duration::from_millis(100)) {
            continue;
        }
        if let Err(RecvTimeoutError::Timeout) = over.recv_timeout(START_GRACE) {
            tracing::error!("a signal ended the start, which a disk kept waiting; nothing was answered yet");
            std::process::exit(1);
        }
        return;
    }
}
