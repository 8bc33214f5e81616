//! The Lua scripts and how one is run: EVALSHA, and where the server does not know it (restart, failover, `SCRIPT FLUSH`) EVAL on the same
//! connection. Never `SCRIPT LOAD` alone: what was loaded may be gone before it is used.

use std::sync::LazyLock;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, ErrorKind, RedisResult, Script as Hashed, ServerErrorKind, Value};

use crate::link::send;

/// One script with its head.
pub(crate) struct Script {
    text: String,
    hash: String,
    /// Whether its text goes along each time: calls of which none waits for another's answer are then done in the order in which they are made,
    /// also by a server that knew no script at the first of them.
    is_whole: bool,
}

macro_rules! script {
    (whole $name:ident, $($rest:tt)*) => {
        pub(crate) static $name: LazyLock<Script> = LazyLock::new(|| Script {
            is_whole: true,
            ..script!(@script $($rest)*)
        });
    };
    (@script $flags:literal, $($file:literal),*) => {
        Script::new(concat!("#!lua", $flags, "\n", $(include_str!(concat!("../lua/", $file)),)*))
    };
    ($(#[$doc:meta])* $name:ident, $flags:literal, $($file:literal),*) => {
        $(#[$doc])*
        pub(crate) static $name: LazyLock<Script> = LazyLock::new(|| {
            script!(@script $flags, $($file),*)
        });
    };
}

// A script without flags is refused by a full server before it begins. What only reads or settles goes on.
script!(CLAIM, "", "state.lua", "claim.lua");
script!(OPEN, "", "state.lua", "aside.lua", "open.lua");
// Holds and their ends, which are done in the order in which they are asked for.
script!(whole CHANGE, " flags=allow-oom", "state.lua", "change.lua");
script!(LOOK, " flags=no-writes", "state.lua", "look.lua");
// The same, refused by a server that can't write now: what would be healed there could not be.
script!(CONDITION, " flags=allow-oom", "state.lua", "look.lua");
script!(WALK, " flags=no-writes", "walk.lua");
script!(FORGET, " flags=allow-oom", "state.lua", "forget.lua");
script!(DROP, " flags=allow-oom", "state.lua", "drop.lua");
script!(TAKE, " flags=allow-oom", "state.lua", "entries.lua", "take.lua");
script!(TRANSFER, " flags=allow-oom", "state.lua", "transfer.lua");
script!(SEAL, " flags=allow-oom", "state.lua", "aside.lua", "seal.lua");
script!(CONFIRM, " flags=allow-oom", "state.lua", "confirm.lua");
script!(ADOPT, "", "state.lua", "entries.lua", "adopt.lua");
script!(RECLAIM, " flags=allow-oom", "state.lua", "entries.lua", "reclaim.lua");
script!(MEMBERS, " flags=allow-oom", "members.lua");
script!(KEEP, " flags=allow-oom", "keep.lua");
script!(TELL, " flags=allow-oom", "tell.lua");
script!(LEASE, " flags=allow-oom", "lease.lua");
script!(RETIE, " flags=allow-oom", "retie.lua");
script!(PERMIT, "", "permit.lua");
script!(PROBE, " flags=allow-oom", "probe.lua");
// The same, refused by a full server: what would be built there could not be.
script!(PROBE_ROOM, "", "probe.lua");
script!(RATE, "", "rate.lua");
script!(RECORD, " flags=allow-oom", "state.lua", "entries.lua", "record.lua");

impl Script {
    fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            hash: Hashed::new(text).get_hash().to_owned(),
            is_whole: false,
        }
    }

    fn command(&self, name: &str, script: &str, keys: &[String], arguments: &[Vec<u8>]) -> Cmd {
        let mut command = redis::cmd(name);
        command.arg(script).arg(keys.len()).arg(keys).arg(arguments);
        command
    }

    /// Runs the script once, on this connection; `asking` tells a server that it will have the slot of the keys soon.
    pub(crate) async fn run(
        &self,
        connection: &mut MultiplexedConnection,
        asking: bool,
        keys: &[String],
        arguments: &[Vec<u8>],
    ) -> RedisResult<Value> {
        let whole = || self.command("EVAL", &self.text, keys, arguments);
        if self.is_whole {
            return send(connection, asking, &whole()).await;
        }
        let known = self.command("EVALSHA", &self.hash, keys, arguments);
        match send(connection, asking, &known).await {
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                send(connection, asking, &whole()).await
            }
            answer => answer,
        }
    }
}
