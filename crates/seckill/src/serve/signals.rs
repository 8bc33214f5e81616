//! Signals: SIGTERM and SIGINT end the process orderly, a second one hurries it, SIGHUP is noted and ignored.

use std::thread;
use std::time::Duration;

use seckill_engine_embedded::Embedded;
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
    pub(crate) fn wait(&mut self, engine: Option<&Embedded>) -> Outcome {
        let Self {
            runtime,
            terminate,
            interrupt,
            hang_up,
        } = self;
        runtime.block_on(async {
            let broke = async {
                match engine {
                    Some(engine) => engine.broke().await,
                    None => std::future::pending().await,
                }
            };
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
            if self.wait(None).is_ok() {
                tracing::warn!("a second signal: open requests are cut off");
                hurry();
            }
        });
        if let Err(error) = waiting {
            tracing::warn!(%error, "a second signal will not be noticed");
        }
    }
}
