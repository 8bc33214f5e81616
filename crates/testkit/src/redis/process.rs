//! How a server's process is started.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server that keeps everything, on a port of 127.0.0.1.
pub(super) fn server(folder: &Path, port: u16, more: &[String], is_apart: bool) -> Child {
    let port = port.to_string();
    let dir = folder.to_string_lossy();
    let settings = [
        ["--bind", "127.0.0.1"],
        ["--port", &port],
        ["--dir", &dir],
        ["--save", ""],
        ["--appendonly", "yes"],
        ["--appendfsync", "always"],
        ["--maxmemory-policy", "noeviction"],
        ["--enable-debug-command", "local"],
    ];
    let mut command = program(folder);
    command.args(settings.as_flattened()).args(more);
    spawn(&mut command, is_apart)
}

/// A sentinel by the settings of its file, which it writes, too.
pub(super) fn sentinel(folder: &Path, is_apart: bool) -> Child {
    let mut command = program(folder);
    command.arg(folder.join("sentinel.conf")).arg("--sentinel");
    spawn(&mut command, is_apart)
}

fn program(folder: &Path) -> Command {
    let log = File::options().create(true).append(true).open(folder.join("log"));
    let mut command = Command::new(std::env::var_os("SECKILL_REDIS_SERVER").unwrap_or_else(|| "redis-server".into()));
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command.stdout(log.expect("a log file"));
    command
}

/// What ends a test that hangs ends its group; servers of others stay.
fn spawn(command: &mut Command, is_apart: bool) -> Child {
    if is_apart {
        command.process_group(0);
    }
    command
        .spawn()
        .expect("redis-server is on the PATH (Debian: apt-get install redis-server)")
}
