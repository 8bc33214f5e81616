//! The server that is measured: the product itself, a child on loopback.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::admin::Admin;
use crate::process::{Process, Usage};
use crate::target::Target;
use crate::token::Signer;
use crate::{Error, Result};

/// A server that isn't ready after this long has failed.
pub(crate) const READY_LIMIT: Duration = Duration::from_secs(30);
/// How long tokens of a run are good.
pub(crate) const TOKEN_TTL_S: i64 = 6 * 3600;
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
        let mut environment = measured_settings(&jwt_secret, &admin_token);
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
            target: Target::of(public, admin, signer),
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

    /// Kills it, starts it again on its data and its ports, and waits until `/readyz` says yes: how long that took.
    ///
    /// # Errors
    /// [`Error::Child`] with the end of its log when it ends early or isn't ready within `limit`.
    pub fn kill_and_start_again(&mut self, limit: Duration) -> Result<Duration> {
        self.process.kill_and_start_again()?;
        let began = Instant::now();
        let admin = &self.target.admin;
        self.process.wait_until(limit, || admin.is_ready())?;
        Ok(began.elapsed())
    }

    /// Lets time pass without it: it stands still for `time` and then goes on.
    pub fn hold_for(&self, time: Duration) {
        self.process.hold();
        std::thread::sleep(time);
        self.process.go_on();
    }

    /// Ends it in an orderly way and deletes its folder.
    ///
    /// # Errors
    /// [`Error::Io`] when it can't be ended.
    pub fn stop(self) -> Result<()> {
        self.process.stop().map(drop)
    }
}

/// What every measured process is told: these secrets, and no limits.
pub(crate) fn measured_settings(jwt_secret: &str, admin_token: &str) -> Vec<(String, String)> {
    let mut settings = vec![
        ("SECKILL_AUTH__JWT_SECRET".to_owned(), jwt_secret.to_owned()),
        ("SECKILL_ADMIN__TOKEN".to_owned(), admin_token.to_owned()),
    ];
    for limit in ["IP", "USER", "DEVICE", "READ"] {
        settings.push((format!("SECKILL_LIMITS__{limit}"), "off".to_owned()));
    }
    settings
}

/// Two loopback addresses that were free a moment ago. Both are held at once, so they differ.
pub(crate) fn free_addresses() -> Result<[SocketAddr; 2]> {
    let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Error::io("find a free port"));
    let held = [bind()?, bind()?];
    let address = |listener: &TcpListener| listener.local_addr().map_err(Error::io("find a free port"));
    Ok([address(&held[0])?, address(&held[1])?])
}

pub(crate) fn random_secret() -> String {
    (0..SECRET_WORDS)
        .map(|_| format!("{:016x}", rand::random::<u64>()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::script;

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
    fn secrets_differ() {
        assert_ne!(random_secret(), random_secret());
    }
}
