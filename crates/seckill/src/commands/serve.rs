//! `seckill serve`, `seckill work`, `seckill migrate`.

use seckill_settings::DatabaseUrl;
use seckill_settings::StoreUrl;
use serde_json::json;

use super::{Context, flag, refused};
use crate::cli::{DataArgs, Role, ServeArgs};
use crate::exit::{Failure, Outcome};
use crate::{logging, serve};

pub(super) fn serve(context: &Context, args: &ServeArgs) -> Outcome {
    let mut flags = args.data.flags();
    flags.extend(flag("server.listen", args.listen.as_ref()));
    flags.extend(flag("admin.listen", args.admin_listen.as_ref()));
    let settings = context.settings(flags)?;
    let all = [Role::Api, Role::Worker, Role::Scheduler];
    let asked_all = args.roles.is_empty() || all.iter().all(|role| args.roles.contains(role));
    if !asked_all && matches!(settings.store.url, StoreUrl::Embedded) {
        return Err(Failure::usage(EMBEDDED_ROLES));
    }
    match &serve::acceptance::refusals(&settings)[..] {
        [] => {}
        refusals => return Err(refused(refusals)),
    }
    logging::start(&settings.log)?;
    serve::run(settings)
}

const EMBEDDED_ROLES: &str = "the embedded store lives in the serving process, so that process has all roles; \
    roles of their own need a store that processes share (store.url)";

pub(super) fn work(context: &Context) -> Outcome {
    let settings = context.settings(Vec::new())?;
    serve::acceptance::store(&settings)?;
    Err(Failure::usage(EMBEDDED_ROLES))
}

/// Opening the database brings it to this version; the folder's lock keeps a serving process from being disturbed.
pub(super) fn migrate(context: &Context, args: &DataArgs) -> Outcome {
    let mut settings = context.settings(args.flags())?;
    settings.database.migrate_at_start = true;
    drop(serve::layers::open_layers(&settings, serve::Patience::of_command())?);
    logging::print(&if context.json {
        let database = match &settings.database.url {
            DatabaseUrl::Sqlite(path) => path.display().to_string(),
            DatabaseUrl::Remote(url) => url.to_string(),
        };
        json!({"database": database, "migrated": true}).to_string()
    } else {
        "the database has the tables of this version".to_owned()
    })
}
