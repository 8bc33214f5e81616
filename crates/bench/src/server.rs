//! The servers that are measured: the product itself, and the bare listener that it is compared with. Both are children on loopback.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::admin::Admin;
use crate::http::get;
use crate::process::{Process, Usage};
use crate::token::Signer;
use crate::{Error, Result};

/// A server that isn't ready after this long has failed.
const READY_LIMIT: Duration = Duration::from_secs(30);
/// How long tokens of a run are good.
const TOKEN_TTL_S: i64 = 6 * 3600;
/// Secrets of a run: 256 random bits each, in hexadecimal.
const SECRET_WORDS: usize = 4;

/// How to start a server of the product.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// The `seckill` program.
    pub executable: PathBuf,
    /// More arguments of `seckill serve`.
    pub arguments: Vec<String>,
    /// More settings, as environment variables.
    pub environment: Vec<(String, String)>,
}

impl ServerConfig {
    /// Nothing but the defaults of a measurement: own secrets, limits off.
    pub fn of(executable: impl Into<PathBuf>) -> Self {
        Self {
            executable: executable.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
        }
    }
}

/// Where a running server is and how to speak with it: the same for one of our children and for somebody else's.
#[derive(Debug, Clone)]
pub struct Target {
    /// The public port.
    pub public: SocketAddr,
    /// The admin port, with its token.
    pub admin: Admin,
    /// Signs tokens of users.
    pub signer: Signer,
}

impl Target {
    /// A server that is already running.
    ///
    /// # Errors
    /// [`Error::Usage`] for URLs that can't be put under load.
    pub fn running(public_url: &str, admin_url: &str, admin_token: &str, jwt_secret: &[u8]) -> Result<Self> {
        Ok(Self {
            public: crate::address::address_of(public_url)?,
            admin: Admin::new(crate::address::address_of(admin_url)?, admin_token),
            signer: Signer::expiring_in(jwt_secret, TOKEN_TTL_S),
        })
    }
}

/// A child `seckill serve` in a temporary data folder, with secrets of its own and limits off.
#[derive(Debug)]
pub struct Server {
    process: Process,
    target: Target,
}

impl Server {
    /// Starts the server and waits until `/readyz` says yes.
    ///
    /// # Errors
    /// [`Error::Child`] with the end of its log when it ends early or isn't ready in time.
    pub fn start(config: &ServerConfig) -> Result<Self> {
        let [public, admin_address] = free_addresses()?;
        let (jwt_secret, admin_token) = (random_secret(), random_secret());
        let mut environment = vec![
            ("SECKILL_AUTH__JWT_SECRET".to_owned(), jwt_secret.clone()),
            ("SECKILL_ADMIN__TOKEN".to_owned(), admin_token.clone()),
        ];
        for limit in ["IP", "USER", "DEVICE", "READ"] {
            environment.push((format!("SECKILL_LIMITS__{limit}"), "off".to_owned()));
        }
        environment.extend(config.environment.iter().cloned());
        let arguments = |folder: &Path| {
            let mut arguments: Vec<String> = vec!["serve".into()];
            arguments.extend([
                "--listen".into(),
                public.to_string(),
                "--admin-listen".into(),
                admin_address.to_string(),
            ]);
            arguments.extend(["--data-dir".into(), folder.join("data").display().to_string()]);
            arguments.extend(config.arguments.iter().cloned());
            arguments
        };
        let mut process = Process::start(&config.executable, arguments, &environment)?;
        let admin = Admin::new(admin_address, &admin_token);
        process.wait_until(READY_LIMIT, || admin.is_ready())?;
        let signer = Signer::expiring_in(jwt_secret.as_bytes(), TOKEN_TTL_S);
        Ok(Self {
            process,
            target: Target { public, admin, signer },
        })
    }

    /// How to speak with it.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The folder that its data folder lies in.
    pub fn folder(&self) -> &Path {
        self.process.folder()
    }

    /// CPU time and memory so far.
    ///
    /// # Errors
    /// [`Error::Io`] where there is no `/proc`.
    pub fn usage(&self) -> Result<Usage> {
        self.process.usage()
    }

    /// Ends it in an orderly way and deletes its folder.
    ///
    /// # Errors
    /// [`Error::Io`] when it can't be ended.
    pub fn stop(self) -> Result<()> {
        self.process.stop().map(drop)
    }
}

/// A child that answers every request with the same few bytes, on the same accept loop as the product.
#[derive(Debug)]
pub struct Hello {
    process: Process,
    address: SocketAddr,
}

impl Hello {
    /// Starts `seckill bench --serve-hello --listen ADDRESS` and waits until it answers.
    ///
    /// # Errors
    /// [`Error::Child`] as with [`Server::start`].
    pub fn start(executable: &Path) -> Result<Self> {
        let [address, _] = free_addresses()?;
        let arguments = |_: &Path| {
            vec![
                "bench".into(),
                "--serve-hello".into(),
                "--listen".into(),
                address.to_string(),
            ]
        };
        let mut process = Process::start(executable, arguments, &[])?;
        process.wait_until(READY_LIMIT, || {
            get(address, "/", None).is_ok_and(|answer| answer.status == 200)
        })?;
        Ok(Self { process, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// CPU time and memory so far.
    ///
    /// # Errors
    /// [`Error::Io`] where there is no `/proc`.
    pub fn usage(&self) -> Result<Usage> {
        self.process.usage()
    }

    /// Ends it and deletes its folder.
    ///
    /// # Errors
    /// [`Error::Io`] when it can't be ended.
    pub fn stop(self) -> Result<()> {
        self.process.stop().map(drop)
    }
}

/// Two loopback addresses that were free a moment ago. Both are held at once, so they differ.
fn free_addresses() -> Result<[SocketAddr; 2]> {
    let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Error::io("find a free port"));
    let held = [bind()?, bind()?];
    let address = |listener: &TcpListener| listener.local_addr().map_err(Error::io("find a free port"));
    Ok([address(&held[0])?, address(&held[1])?])
}

fn random_secret() -> String {
    (0..SECRET_WORDS)
        .map(|_| format!("{:016x}", rand::random::<u64>()))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A stand-in for the program: a script that notes how it was started and then ends.
    fn script(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stand-in");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        (folder, path)
    }

    #[test]
    fn server_is_started_with_secrets_limits_and_ports_of_its_own() {
        let (_folder, executable) = script("env | grep ^SECKILL_; echo \"$@\"; exit 1");
        let mut config = ServerConfig::of(&executable);
        config
            .environment
            .push(("SECKILL_LIMITS__READ".into(), "1/s burst 1".into()));
        let error = Server::start(&config).unwrap_err().to_string();
        for expected in [
            "SECKILL_LIMITS__IP=off",
            "SECKILL_LIMITS__READ=1/s burst 1",
            "serve --listen 127.0.0.1:",
            "--data-dir",
        ] {
            assert!(error.contains(expected), "{expected} is not in {error}");
        }
        let secret = error
            .lines()
            .find_map(|line| line.strip_prefix("SECKILL_AUTH__JWT_SECRET="))
            .unwrap();
        assert_eq!(secret.len(), 64);
    }

    #[test]
    fn hello_is_asked_for_by_its_hidden_flag() {
        let (_folder, executable) = script("echo \"$@\"; exit 1");
        let error = Hello::start(&executable).unwrap_err().to_string();
        assert!(error.contains("bench --serve-hello --listen 127.0.0.1:"), "{error}");
    }

    #[test]
    fn secrets_differ() {
        assert_ne!(random_secret(), random_secret());
    }
}
