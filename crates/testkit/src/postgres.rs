//! PostgreSQL as a server that tests share.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::database::Database;
use crate::processes::{run, text};
use crate::shared::Kind;

/// A place on a real PostgreSQL.
pub type Postgres = Database<PostgresServer>;

/// PostgreSQL.
#[derive(Debug)]
pub struct PostgresServer;

/// A program of the server, which Debian keeps off the PATH: the newest version's.
fn program(name: &str) -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions.max_by_key(|version| version.file_name().to_string_lossy().parse::<u32>().unwrap_or(0));
    newest.map_or_else(|| PathBuf::from(name), |version| version.path().join("bin").join(name))
}

impl Kind for PostgresServer {
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

    fn client(port: u16, place: Option<&str>) -> Command {
        let mut command = Command::new("psql");
        let port = port.to_string();
        command.args([
            "-X",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            "127.0.0.1",
            "-p",
            &port,
            "-U",
            "seckill",
            "-d",
            "postgres",
        ]);
        if let Some(schema) = place {
            command.env("PGOPTIONS", format!("-c search_path={schema}"));
        }
        command
    }

    const STATEMENT: &'static str = "-c";

    /// A schema is to PostgreSQL what a database is to others, without the seconds that making one takes.
    const MAKE_PLACE: &'static str = "CREATE SCHEMA";

    fn url(port: u16, schema: &str) -> String {
        format!("postgres://seckill@127.0.0.1:{port}/postgres?options=-csearch_path%3D{schema}")
    }
}

impl Postgres {
    /// All of it as it is now, as statements that make it anew.
    ///
    /// # Panics
    /// Where the server refuses it.
    #[must_use]
    pub fn dump(&self) -> String {
        let mut dump = Command::new(program("pg_dump"));
        dump.args(["-h", "127.0.0.1", "-p", &self.port().to_string(), "-U", "seckill"]);
        let output = run(dump.args(["-d", "postgres", "-n", self.place()]));
        assert!(output.status.success(), "{}", text(&output));
        String::from_utf8(output.stdout).expect("statements")
    }

    /// Puts what [`Postgres::dump`] gave in the place of all that is there now, in one transaction. Whoever uses it stays connected.
    ///
    /// # Panics
    /// Where the server refuses it.
    pub fn restore(&self, dump: &str) {
        let mut client = PostgresServer::client(self.port(), None);
        client.args(["--single-transaction", "-f", "-"]);
        client
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = client.spawn().expect("the client starts");
        // Of two transactions that wait for each other the other one is undone.
        let drop = format!("SET deadlock_timeout = '1min'; DROP SCHEMA {} CASCADE;", self.place());
        let mut input = child.stdin.take().expect("is piped");
        input
            .write_all(format!("{drop}\n{dump}").as_bytes())
            .expect("the client reads");
        std::mem::drop(input);
        let output = child.wait_with_output().expect("the client ends");
        assert!(output.status.success(), "{}", text(&output));
    }
}
