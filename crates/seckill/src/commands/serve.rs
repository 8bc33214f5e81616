//! `seckill serve`, `seckill work`, `seckill migrate`.

use seckill_settings::{DatabaseUrl, Settings};
use serde_json::json;

use super::{Context, flag, refused};
use crate::cli::{DataArgs, Role, ServeArgs, WorkArgs};
use crate::exit::Outcome;
use crate::serve::Roles;
use crate::{logging, serve};

pub(super) fn serve(context: &Context, args: &ServeArgs) -> Outcome {
    let mut flags = args.data.flags();
    flags.extend(flag("server.listen", args.listen.as_ref()));
    flags.extend(flag("admin.listen", args.admin_listen.as_ref()));
    let settings = context.settings(flags)?;
    let roles = Roles::new(&args.roles, &settings)?;
    begin(settings, roles)
}

fn begin(settings: Settings, roles: Roles) -> Outcome {
    match &serve::acceptance::refusals(&settings)[..] {
        [] => {}
        refusals => return Err(refused(refusals)),
    }
    logging::start(&settings.log)?;
    serve::run(settings, roles)
}

pub(super) fn work(context: &Context, args: &WorkArgs) -> Outcome {
    let mut flags = args.data.flags();
    flags.extend(flag("admin.listen", args.admin_listen.as_ref()));
    let settings = context.settings(flags)?;
    let roles = Roles::new(&[Role::Worker], &settings)?;
    begin(settings, roles)
}

/// Opening the database brings it to this version; the folder's lock keeps a serving process from being disturbed.
pub(super) fn migrate(context: &Context, args: &DataArgs) -> Outcome {
    let mut settings = context.settings(args.flags())?;
    settings.database.migrate_at_start = true;
    drop(serve::layers::open_layers(
        &settings,
        &mut serve::Patience::of_command(),
    )?);
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
