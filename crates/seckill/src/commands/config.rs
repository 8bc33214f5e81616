//! `seckill config`: what is set, and by whom.

use seckill_settings::{Settings, schema};
use serde_json::json;

use super::Context;
use crate::cli::ConfigCommand;
use crate::exit::{Failure, Outcome};
use crate::logging::{print, say};
use crate::serve::acceptance;

pub(super) fn run(context: &Context, command: ConfigCommand) -> Outcome {
    match command {
        ConfigCommand::Schema => print(&format!("{:#}", schema())),
        ConfigCommand::Print => {
            let settings = context.settings(Vec::new())?;
            let effective = &settings.effective;
            print(&if context.json {
                format!("{:#}", effective.to_json())
            } else {
                effective.to_toml()
            })
        }
        ConfigCommand::Check => check(context),
    }
}

fn check(context: &Context) -> Outcome {
    let checked = Settings::check(&context.sources(Vec::new())?);
    let (mut errors, warnings) = match checked {
        Ok(settings) => {
            let refusals = acceptance::refusals(&settings);
            (
                refusals.iter().map(ToString::to_string).collect::<Vec<_>>(),
                settings.warnings,
            )
        }
        Err(errors) => (errors.iter().map(ToString::to_string).collect(), Vec::new()),
    };
    errors.dedup();
    if context.json {
        print(&json!({"errors": errors, "warnings": warnings}).to_string())?;
    } else {
        warnings.iter().for_each(|warning| say(&format!("warning: {warning}")));
        errors.iter().for_each(|error| say(&format!("error: {error}")));
    }
    match errors.len() {
        0 if context.json => Ok(()),
        0 => print("the server can be started with these settings"),
        count => Err(Failure::usage(format!("{count} of the settings cannot be used"))),
    }
}
