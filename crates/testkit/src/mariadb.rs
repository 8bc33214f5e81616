//! A database of its own on a real MariaDB.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shared::{Kind, Shared};

/// A fresh database; it goes with the server.
#[derive(Debug)]
pub struct MariaDb {
    server: Shared,
    name: String,
}

impl MariaDb {
    /// Makes an empty database.
    ///
    /// # Panics
    /// Where MariaDB is missing or does not start.
    #[must_use]
    pub fn database() -> Self {
        let server = Shared::join::<Family>();
        let name = Shared::fresh_name();
        server.say::<Family>(&format!("CREATE DATABASE {name}"));
        Self { server, name }
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("mariadb://root@127.0.0.1:{}/{}", self.server.port, self.name)
    }
}

#[derive(Debug)]
struct Family;

/// Debian keeps the server off a common user's PATH.
fn program(name: &str) -> PathBuf {
    let usual = Path::new("/usr/sbin").join(name);
    if usual.exists() { usual } else { PathBuf::from(name) }
}

impl Kind for Family {
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
        command
    }

    fn serve(folder: &Path, port: u16) -> Command {
        let mut command = Command::new(program("mariadbd"));
        command.arg("--no-defaults");
        command.arg(format!("--datadir={}", folder.join("data").display()));
        command.arg(format!("--socket={}", folder.join("socket").display()));
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

    fn say(port: u16, statement: &str) -> Command {
        let mut command = Command::new("mariadb");
        command.args([
            "--no-defaults",
            "--protocol=tcp",
            "-h",
            "127.0.0.1",
            "-P",
            &port.to_string(),
            "-u",
            "root",
            "-e",
            statement,
        ]);
        command
    }
}
