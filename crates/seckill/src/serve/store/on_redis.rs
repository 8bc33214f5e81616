//! A store on Redis: a handle, and the runtime that its connection lives on.

use std::error::Error as _;
use std::thread::JoinHandle;
use std::time::Duration;

use seckill_engine_redis::{Durability, Engine, Error, Options};
use seckill_flow::Settle;
use seckill_sale::InstallationId;
use seckill_settings::{ServiceUrl, Settings};
use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;

use super::Standing;
use crate::exit::{Failure, chain};
use crate::serve::Patience;
use crate::serve::locked_database::WAIT_MAX;
use crate::serve::node::millis;
use crate::serve::secrets;

/// Longest wait for an answer of the server: it answers in less than a millisecond, or something is wrong.
const ANSWER_WITHIN_MAX: Duration = Duration::from_millis(500);

/// The handle of this process. Dropping it ends its connections.
pub(crate) struct OnRedis {
    engine: Option<Engine>,
    runtime: Background,
}

impl OnRedis {
    /// Connects, and waits where the server is not up yet.
    pub(super) fn open(settings: &Settings, url: &ServiceUrl, patience: &mut Patience<'_>) -> Result<Self, Failure> {
        let runtime = Background::start()?;
        let consumer = secrets::node_name(&settings.data_dir)?;
        let answer_within = settings.store.answer_within.min(ANSWER_WITHIN_MAX);
        let options = Options {
            answer_within,
            durability: durability(settings.store.durability, answer_within),
            backlog_max: settings.queue.backlog_max,
            ..Options::new(url.reveal().to_owned(), consumer)
        };
        let retry_ms = Settle::wait_ms_max(millis(settings.queue.retry_wait_max));
        let options = Options {
            waits: seckill_sale::WaitsMax {
                retry_ms,
                ..options.waits
            },
            ..options
        };
        let limit = WAIT_MAX.as_secs();
        let waiting = format!("{url} can't be used yet; waiting for it, {limit} s at most");
        let given_up = format!("{url} could not be used for {limit} s");
        let engine = patience.open(&waiting, &given_up, |again| {
            loop {
                match runtime.handle.block_on(Engine::connect(options.clone())) {
                    Err(error) if error.is_outage() && again() => {}
                    connected => return connected.map_err(|error| chain(&error)),
                }
            }
        })?;
        Ok(Self {
            engine: Some(engine),
            runtime,
        })
    }

    /// Whether the address is one.
    pub(super) fn check_address(url: &ServiceUrl) -> Result<(), Failure> {
        seckill_engine_redis::check_address(url.reveal()).map_err(|error| {
            // Nobody was asked: what is wrong is what stands behind it.
            let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            Failure::usage(format!("store.url: {url}: {why}"))
        })
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.engine.as_ref().expect("there until it is dropped")
    }

    pub(super) fn standing(&self, patience: &mut Patience<'_>) -> Result<Standing, Failure> {
        let engine = self.engine();
        let ask = || {
            self.runtime.handle.block_on(async {
                let id = engine.installation().await?;
                let acknowledged = engine.acknowledged_batch().await?;
                Ok((id, acknowledged, engine.knows_no_sale()))
            })
        };
        let (id, acknowledged, is_empty) = patience.ask(is_passing, ask)?;
        Ok(Standing {
            id,
            acknowledged,
            is_empty,
            is_own: false,
            is_created: id.is_none(),
        })
    }

    pub(super) fn tie(&self, id: InstallationId, patience: &mut Patience<'_>) -> Result<InstallationId, Failure> {
        patience.ask(is_passing, || self.runtime.handle.block_on(self.engine().tie(id)))
    }

    pub(super) fn retie(
        &self,
        from: InstallationId,
        to: InstallationId,
        patience: &mut Patience<'_>,
    ) -> Result<InstallationId, Failure> {
        patience.ask(is_passing, || {
            self.runtime.handle.block_on(self.engine().retie(from, to))
        })
    }
}

/// The other half of the time is left for the claim itself.
fn durability(wanted: seckill_settings::Durability, answer_within: Duration) -> Durability {
    let within = answer_within / 2;
    match wanted {
        seckill_settings::Durability::Server => Durability::Server,
        seckill_settings::Durability::Wait(replicas) => Durability::Wait { replicas, within },
        seckill_settings::Durability::WaitAof(replicas) => Durability::WaitAof { replicas, within },
    }
}

/// Whether the server may answer if it is asked again.
const fn is_passing(error: &Error) -> bool {
    !matches!(error, Error::NotReady(_))
}

impl Drop for OnRedis {
    fn drop(&mut self) {
        // Before its runtime.
        drop(self.engine.take());
    }
}

/// A runtime on a thread of its own: connections and background tasks of the engine live there, callers wait on their own runtimes.
struct Background {
    handle: Handle,
    ends: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    fn start() -> Result<Self, Failure> {
        let no_thread = |error| Failure::failed(format!("no thread for the store: {error}"));
        let runtime = Builder::new_current_thread().enable_all().build().map_err(no_thread)?;
        let (handle, ends) = (runtime.handle().clone(), CancellationToken::new());
        let ended = ends.clone();
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || runtime.block_on(ended.cancelled()))
            .map_err(no_thread)?;
        Ok(Self {
            handle,
            ends,
            thread: Some(thread),
        })
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.ends.cancel();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's thread had panicked");
        }
    }
}
