//! The engine that this suite runs on: Redis, on a server of its own whose folder outlives it.

use std::path::{Path, PathBuf};
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
    pub(crate) server: Redis,
    /// What the server keeps.
    pub(crate) folder: PathBuf,
}

impl Engine {
    pub(crate) fn start(folder: &Path, clock: Arc<ManualClock>) -> Self {
        std::fs::create_dir_all(folder).expect("a folder");
        let server = Redis::start_in(folder);
        vouch(&server);
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
            server,
            folder: folder.to_owned(),
        }
    }
}

/// A house that starts anew here is a node that does, on a server that went on: states are not doubted for it. What a server that starts
/// anew does to them is in `healing`.
fn vouch(server: &Redis) {
    let said = server.command(&["INFO", "replication"]).expect("answers");
    let id = said.lines().find_map(|line| line.strip_prefix("master_replid:"));
    let states = server.command(&["KEYS", "{a:*}:meta"]).expect("answers");
    for meta in states.lines().filter(|line| line.starts_with('{')) {
        let answer = server.command(&["HSET", meta, "server", id.expect("an id").trim()]);
        answer.expect("answers");
    }
}
