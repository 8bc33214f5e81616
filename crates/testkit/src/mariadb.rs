//! MariaDB as a server that tests share.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::database::Database;
use crate::shared::Kind;

/// A place on a real MariaDB.
pub type MariaDb = Database<MariaDbServer>;

/// MariaDB.
#[derive(Debug)]
pub struct MariaDbServer;

/// Debian keeps the server off a common user's PATH.
fn program(name: &str) -> PathBuf {
    let usual = Path::new("/usr/sbin").join(name);
    if usual.exists() { usual } else { PathBuf::from(name) }
}

impl Kind for MariaDbServer {
    const NAME: &'static str = "mariadb";
    const USER: Option<&'static str> = Some("mysql");

    fn install(folder: &Path) -> Command {
        let mut command = Command::new("mariadb-install-db");
        command.args([
            "--no-defaults",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        ]);
        command.arg(format!("--datadir={}", folder.join("data").display()));
        // As below: what it runs is a server, too.
        command.arg(format!("--tmpdir={}", folder.display()));
        command
    }

    fn serve(folder: &Path, port: u16) -> Command {
        let mut command = Command::new(program("mariadbd"));
        command.arg("--no-defaults");
        command.arg(format!("--datadir={}", folder.join("data").display()));
        command.arg(format!("--socket={}", folder.join("socket").display()));
        // Of two servers with one folder for temporary tables, each deletes the other's at its start.
        command.arg(format!("--tmpdir={}", folder.display()));
        command.args([
            &format!("--port={port}"),
            "--bind-address=127.0.0.1",
            "--innodb-flush-log-at-trx-commit=1",
            "--innodb-buffer-pool-size=64M",
            "--innodb-log-file-size=32M",
            "--max-connections=200",
            "--skip-name-resolve",
        ]);
        command
    }

    fn client(port: u16, place: Option<&str>) -> Command {
        let mut command = Command::new("mariadb");
        let port = port.to_string();
        command.args([
            "--no-defaults",
            "--protocol=tcp",
            "--unbuffered",
            "-h",
            "127.0.0.1",
            "-P",
            &port,
            "-u",
            "root",
        ]);
        command.args(place);
        command
    }

    const STATEMENT: &'static str = "-e";

    const MAKE_PLACE: &'static str = "CREATE DATABASE";

    fn url(port: u16, database: &str) -> String {
        format!("mariadb://root@127.0.0.1:{port}/{database}")
    }
}
