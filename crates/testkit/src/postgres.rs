//! A schema of its own on a real PostgreSQL: what a database is to another server, without the seconds that making one takes.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shared::{Kind, Shared};

/// A fresh schema; it goes with the server.
#[derive(Debug)]
pub struct Postgres {
    server: Shared,
    name: String,
}

impl Postgres {
    /// Makes an empty schema.
    ///
    /// # Panics
    /// Where PostgreSQL is missing or does not start.
    #[must_use]
    pub fn schema() -> Self {
        let server = Shared::join::<Family>();
        let name = Shared::fresh_name();
        server.say::<Family>(&format!("CREATE SCHEMA {name}"));
        Self { server, name }
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        let (port, name) = (self.server.port, &self.name);
        format!("postgres://seckill@127.0.0.1:{port}/postgres?options=-csearch_path%3D{name}")
    }
}

#[derive(Debug)]
struct Family;

/// A program of the server, which Debian keeps off the PATH: the newest version's.
fn program(name: &str) -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions.max_by_key(|version| version.file_name().to_string_lossy().parse::<u32>().unwrap_or(0));
    newest.map_or_else(|| PathBuf::from(name), |version| version.path().join("bin").join(name))
}

impl Kind for Family {
    const NAME: &'static str = "postgres";
    const USER: Option<&'static str> = Some("postgres");

    fn install(folder: &Path) -> Command {
        let mut command = Command::new(program("initdb"));
        command.args([
            "--no-sync",
            "--auth=trust",
            "--username=seckill",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--pgdata",
        ]);
        command.arg(folder.join("data"));
        command
    }

    fn serve(folder: &Path, port: u16) -> Command {
        let mut command = Command::new(program("postgres"));
        command.arg("-D").arg(folder.join("data"));
        for setting in [
            &format!("port={port}"),
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "fsync=on",
            "max_connections=200",
            "shared_buffers=64MB",
            "autovacuum_naptime=10min",
            "deadlock_timeout=100ms",
        ] {
            command.args(["-c", setting]);
        }
        command
    }

    fn say(port: u16, statement: &str) -> Command {
        let mut command = Command::new("psql");
        command.args([
            "-X",
            "-q",
            "-h",
            "127.0.0.1",
            "-p",
            &port.to_string(),
            "-U",
            "seckill",
            "-d",
            "postgres",
            "-c",
            statement,
        ]);
        command
    }
}
