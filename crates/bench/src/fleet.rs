//! Many processes of the product on one store and one database, which run already.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::admin::Admin;
use crate::canonical::{self, SaleConfig, SaleReport};
use crate::process::{Process, Usage};
use crate::server::{READY_LIMIT, TOKEN_TTL_S, free_addresses, measured_settings, random_secret};
use crate::target::Target;
use crate::token::Signer;
use crate::{Error, Result, http};

/// How long all processes may take to know a new activity.
const KNOWN_LIMIT: Duration = Duration::from_secs(5);
/// How often they are asked.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Processes to start.
#[derive(Debug, Clone)]
pub struct FleetConfig {
    /// The `seckill` program.
    pub executable: PathBuf,
    /// `store.url` of all of them.
    pub store: String,
    /// `database.url` of all of them.
    pub database: String,
    /// Processes that answer buyers, 1 at least; the first is the scheduler, too.
    pub apis: usize,
    /// Processes that write orders.
    pub workers: usize,
    /// More settings, as environment variables.
    pub environment: Vec<(String, String)>,
}

/// Running processes, with secrets of their own and limits off. Dropping it ends them.
#[derive(Debug)]
pub struct Fleet {
    processes: Vec<Process>,
    target: Target,
}

impl Fleet {
    /// Starts all processes, one after another, and waits until each is ready.
    ///
    /// # Errors
    /// [`Error::Usage`] without a process that answers, [`Error::Child`] with the end of its log where one does not get ready.
    pub fn start(config: &FleetConfig) -> Result<Self> {
        if config.apis == 0 {
            return Err(Error::Usage(
                "buyers need one process at least that answers them".into(),
            ));
        }
        let (jwt_secret, admin_token) = (random_secret(), random_secret());
        let mut environment = measured_settings(&jwt_secret, &admin_token);
        environment.push(("SECKILL_STORE__URL".into(), config.store.clone()));
        environment.push(("SECKILL_DATABASE__URL".into(), config.database.clone()));
        environment.push(("SECKILL_DATABASE__MIGRATE".into(), "auto".into()));
        environment.extend(config.environment.iter().cloned());
        let (mut processes, mut publics, mut admins) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..config.apis + config.workers {
            let [public, admin_address] = free_addresses()?;
            let is_api = number < config.apis;
            let roles = if number == 0 { "api,scheduler" } else { "api" };
            let arguments = |folder: &Path| arguments(is_api.then_some((roles, public)), admin_address, folder);
            let mut process = Process::start(&config.executable, arguments, &environment)?;
            let admin = Admin::new(admin_address, &admin_token);
            process.wait_until(READY_LIMIT, || admin.is_ready())?;
            processes.push(process);
            admins.push(admin);
            publics.extend(is_api.then_some(public));
        }
        let target = Target {
            public: publics.remove(0),
            others: publics,
            admin: admins.remove(0),
            other_admins: admins,
            signer: Signer::expiring_in(jwt_secret.as_bytes(), TOKEN_TTL_S),
        };
        Ok(Self { processes, target })
    }

    /// How to speak with it.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// CPU time and memory of all processes so far.
    ///
    /// # Errors
    /// [`Error::Io`] where there is no `/proc`.
    pub fn usage(&self) -> Result<Usage> {
        let mut all = Usage::default();
        for process in &self.processes {
            let its = process.usage()?;
            all.cpu_s += its.cpu_s;
            all.rss_bytes += its.rss_bytes;
            all.rss_peak_bytes += its.rss_peak_bytes;
        }
        Ok(all)
    }

    /// The processes that write orders.
    pub(crate) fn workers(&self) -> &[Process] {
        &self.processes[1 + self.target.others.len()..]
    }

    /// Ends all processes in an orderly way, those that answer first, and deletes their folders.
    ///
    /// # Errors
    /// [`Error::Io`] when one can't be ended.
    pub fn stop(self) -> Result<()> {
        self.processes
            .into_iter()
            .try_for_each(|process| process.stop().map(drop))
    }

    /// Waits until every process that answers buyers says that an activity is open.
    pub(crate) fn wait_known(&self, activity: u64) -> Result<()> {
        let end = Instant::now() + KNOWN_LIMIT;
        let path = format!("/api/activities/{activity}");
        for &public in std::iter::once(&self.target.public).chain(&self.target.others) {
            while http::get(public, &path, None)?.json()["data"]["phase"] != "open" {
                if end <= Instant::now() {
                    return Err(Error::TooLate {
                        what: format!("activity {activity} was not open at {public}"),
                        limit_s: KNOWN_LIMIT.as_secs(),
                    });
                }
                std::thread::sleep(LOOK_EVERY);
            }
        }
        Ok(())
    }
}

fn arguments(api: Option<(&str, SocketAddr)>, admin: SocketAddr, folder: &Path) -> Vec<String> {
    let mut arguments = match api {
        Some((roles, public)) => ["serve", "--roles", roles, "--listen", &public.to_string()]
            .map(String::from)
            .to_vec(),
        None => vec!["work".to_owned()],
    };
    arguments.extend(["--admin-listen".into(), admin.to_string()]);
    arguments.extend(["--data-dir".into(), folder.join("data").display().to_string()]);
    arguments
}

/// Starts a fleet, runs a sale on it and ends it. Blocks.
///
/// # Errors
/// As [`Fleet::start`] and [`canonical::run_on`].
pub fn run_sale(fleet: &FleetConfig, config: &SaleConfig) -> Result<SaleReport> {
    let fleet = Fleet::start(fleet)?;
    let activity_id = fleet.target.admin.open_sale("canonical sale", config.units)?;
    fleet.wait_known(activity_id)?;
    let before = fleet.usage().ok();
    let mut report = canonical::run_on(&fleet.target, activity_id, config)?;
    let after = fleet.usage().ok();
    report.cost = before
        .zip(after)
        .map(|(before, after)| canonical::cost(before, after, report.load.answered));
    fleet.stop()?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::script;

    #[test]
    fn processes_are_started_with_one_store_and_one_database() {
        let (_folder, executable) = script("env | grep ^SECKILL_; echo \"$@\"; exit 1");
        let config = FleetConfig {
            executable,
            store: "redis://h".into(),
            database: "postgres://h/d".into(),
            apis: 2,
            workers: 1,
            environment: Vec::new(),
        };
        let error = Fleet::start(&config).unwrap_err().to_string();
        for expected in [
            "SECKILL_STORE__URL=redis://h",
            "SECKILL_DATABASE__URL=postgres://h/d",
            "serve --roles api,scheduler --listen 127.0.0.1:",
        ] {
            assert!(error.contains(expected), "{expected} is not in {error}");
        }
        let none = FleetConfig { apis: 0, ..config };
        assert!(matches!(Fleet::start(&none), Err(Error::Usage(_))));
    }
}
