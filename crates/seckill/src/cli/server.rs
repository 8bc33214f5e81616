//! What `serve` and `work` take, and where other commands find a server and its data.

use clap::Args;

use super::GENERAL;

/// Flags of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Roles of this process: api, worker, scheduler.
    #[arg(long, value_delimiter = ',', value_name = "ROLES")]
    pub(crate) roles: Vec<Role>,
    /// Address of the public port.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Address of the admin port.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) admin_listen: Option<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
}

/// How to run workers only.
#[derive(Debug, Args)]
pub(crate) struct WorkArgs {
    /// Address of the admin port.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) admin_listen: Option<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
}

/// Where the data is.
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// Data folder; without it `data_dir` of the settings, ./seckill-data unless set otherwise.
    #[arg(long, global = true, value_name = "FOLDER", help_heading = GENERAL)]
    pub(crate) data_dir: Option<String>,
}

/// What a process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Role {
    /// Answers buyers.
    Api,
    /// Writes orders.
    Worker,
    /// Preheats, expires, closes.
    Scheduler,
}

/// Which server, for commands that go through its admin API. The token comes from SECKILL_ADMIN__TOKEN or the data folder.
#[derive(Debug, Args)]
pub(crate) struct AdminArgs {
    /// Address of the server's admin port; without it `admin.listen` of the settings, 127.0.0.1:8081 unless set otherwise.
    #[arg(long, global = true, value_name = "URL", help_heading = GENERAL)]
    pub(crate) admin: Option<String>,
    /// Key under which a command is carried out once, however often it is given; a command that may have been done says which it had.
    #[arg(long, global = true, value_name = "KEY", help_heading = GENERAL)]
    pub(crate) idempotency_key: Option<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
}
