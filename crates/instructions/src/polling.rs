//! Drives the futures of the embedded engine and of an inline ledger by hand: both are ready as soon as their work is done, so there is
//! no runtime whose instructions would be counted too.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use anyhow::Context as _;
use seckill_engine_embedded::Sequencer;
use seckill_engine_embedded::storage::Storage;

/// The output of a future that is ready when it is first asked.
pub(crate) fn at_once<T>(future: impl Future<Output = T>) -> anyhow::Result<T> {
    let mut future = std::pin::pin!(future);
    poll(future.as_mut()).context("work that is done inline was not done at once")
}

/// Hands a command to the engine, lets its owner take one step, and fetches the reply.
pub(crate) fn step<S: Storage, T>(sequencer: &mut Sequencer<S>, command: impl Future<Output = T>) -> anyhow::Result<T> {
    let mut command = std::pin::pin!(command);
    if let Some(early) = poll(command.as_mut()) {
        return Ok(early);
    }
    sequencer.step();
    poll(command).context("a step did not answer the command that waited")
}

fn poll<T>(future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}
