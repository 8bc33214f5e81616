//! The engine that this suite runs on: Redis, on a server of its own whose folder outlives it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use seckill_engine_redis::Engine as Handle;
use seckill_engine_redis::Options;
use seckill_sale::ManualClock;
use seckill_testkit::Redis;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

pub(crate) struct Engine {
    pub(crate) handle: Handle,
    /// Ends the thread of the engine's tasks when it is dropped.
    _end: oneshot::Sender<()>,
    _server: Redis,
}

impl Engine {
    pub(crate) fn start(folder: &Path, clock: Arc<ManualClock>) -> Self {
        std::fs::create_dir_all(folder).expect("a folder");
        let server = Redis::start_in(folder);
        // A busy machine is no outage.
        let options = Options {
            answer_within: Duration::from_secs(20),
            connect_within: Duration::from_secs(20),
            ..Options::new(server.url(), "house".to_owned())
        };
        let (end, ended) = oneshot::channel::<()>();
        let (connected, handle) = std::sync::mpsc::sync_channel(1);
        std::thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let handle = Handle::connect_with_clock(options, clock).await.expect("connected");
                connected.send(handle).expect("waited for");
                let _ = ended.await;
            });
        });
        Self {
            handle: handle.recv().expect("connected"),
            _end: end,
            _server: server,
        }
    }
}
