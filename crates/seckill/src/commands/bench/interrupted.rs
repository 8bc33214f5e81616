//! `seckill bench` that a signal cuts short: its servers are ended and its folders removed before it goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use seckill_bench::leftovers;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use crate::commands::Context;
use crate::exit::{Failure, Outcome};
use crate::logging::say_failure;

/// How long its servers may take to end by themselves.
const GRACE: Duration = Duration::from_secs(5);

/// Runs this and gives what it comes to, unless SIGINT, SIGTERM or SIGHUP end the process first: with exit code 128 and the signal's number,
/// as a shell says it.
pub(super) fn unless_interrupted(context: &Context, run: impl FnOnce() -> Outcome) -> Outcome {
    let was_told = watch(context.json)?;
    let outcome = run();
    // What it came to is the doing of whoever ends the process: he is at it.
    while was_told.load(Ordering::Acquire) {
        thread::park();
    }
    outcome
}

/// Ends the process at a signal, from a thread of its own. True as soon as there was one.
fn watch(json: bool) -> Result<Arc<AtomicBool>, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::failed(format!("signals: {error}")))?;
    let guard = runtime.enter();
    let take = |kind| signal(kind).map_err(|error| Failure::failed(format!("signals: {error}")));
    let mut interrupt = take(SignalKind::interrupt())?;
    let mut terminate = take(SignalKind::terminate())?;
    let mut hang_up = take(SignalKind::hangup())?;
    drop(guard);
    let was_told = Arc::new(AtomicBool::new(false));
    let tell = Arc::clone(&was_told);
    let watching = thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let kind = runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => SignalKind::interrupt(),
                _ = terminate.recv() => SignalKind::terminate(),
                _ = hang_up.recv() => SignalKind::hangup(),
            }
        });
        tell.store(true, Ordering::Release);
        leftovers::remove(GRACE);
        let number = kind.as_raw_value();
        let code = u8::try_from(128 + number).unwrap_or(u8::MAX);
        let said =
            format!("signal {number} ended the benchmark; its servers are stopped, its temporary folders removed");
        say_failure(&said, code, json);
        std::process::exit(code.into());
    });
    watching.map_err(|error| Failure::failed(format!("a thread can't be started: {error}")))?;
    Ok(was_told)
}
