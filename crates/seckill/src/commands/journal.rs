//! `seckill journal`: for a stopped server. It holds the data folder's lock while it looks and works.

use seckill_engine_embedded::journal::{repair, verify};
use seckill_engine_embedded::storage::Disk;
use seckill_sale::{ActivityId, UserId};
use seckill_settings::Settings;
use serde_json::json;

use super::Context;
use super::recover::no_data;
use super::report::Report;
use crate::cli::{DataArgs, JournalCommand};
use crate::exit::{Failure, Outcome, chain};
use crate::logging::say;
use crate::serve::Patience;
use crate::serve::layers::{block_on, open_layers, take_folder};
use crate::serve::store::JOURNAL_FOLDER;

pub(super) fn journal(context: &Context, data: &DataArgs, command: &JournalCommand) -> Outcome {
    let mut report = Report::new(context);
    let outcome = run(context, data, command, &mut report);
    report.end(outcome)
}

fn run(context: &Context, data: &DataArgs, command: &JournalCommand, report: &mut Report) -> Outcome {
    let whose = match command {
        JournalCommand::EraseBuyer { activity, user, .. } => {
            let activity = ActivityId::new(*activity).map_err(Failure::usage)?;
            Some((activity, UserId::new(user).map_err(Failure::usage)?))
        }
        JournalCommand::Verify | JournalCommand::Repair => None,
    };
    let settings = context.settings(data.flags())?;
    if !settings.data_dir.join(JOURNAL_FOLDER).is_dir() {
        return Err(no_data(&settings));
    }
    match (command, whose) {
        (JournalCommand::EraseBuyer { yes, .. }, Some(whose)) => erase(&settings, whose, *yes, report),
        (JournalCommand::Repair, _) => with_disk(&settings, |disk| mend(disk, report)),
        _ => with_disk(&settings, |disk| look(disk, report)),
    }
}

fn look(disk: &Disk, report: &mut Report) -> Outcome {
    let found = verify(disk).map_err(|error| Failure::failed(chain(&error)))?;
    let files = found
        .files
        .iter()
        .map(|file| json!({"file": file.name, "frames": file.frames, "bytes": file.bytes}));
    report.set("files", files.collect::<Vec<_>>());
    let damaged = found
        .problems
        .iter()
        .map(|problem| json!({"file": problem.file, "offset": problem.offset, "said": problem.to_string()}));
    report.set("damaged", damaged.collect::<Vec<_>>());
    for file in &found.files {
        report.line(format!("{}: {} frames, {} bytes", file.name, file.frames, file.bytes))?;
    }
    for problem in &found.problems {
        report.line(format!("damaged: {problem}"))?;
    }
    match found.problems.len() {
        0 => report.line("the journal is sound"),
        count => Err(Failure::violated(format!("the journal is damaged in {count} places"))),
    }
}

fn mend(disk: &Disk, report: &mut Report) -> Outcome {
    let repaired = repair(disk).map_err(|error| Failure::failed(chain(&error)))?;
    report.set("changed", repaired.is_some());
    let Some(done) = repaired else {
        return report.line("nothing is damaged; nothing was changed");
    };
    report.set("file", &*done.file);
    report.set("offset", done.offset);
    report.set("copy", &*done.copy);
    report.set("frames_lost", done.frames_lost);
    report.line(format!(
        "{} was cut at offset {}; the file as it was is {}; {} whole frames behind the damage are gone. \
         Next: `seckill recover` compares what is left with the database",
        done.file, done.offset, done.copy, done.frames_lost
    ))
}

fn erase(settings: &Settings, (activity, user): (ActivityId, UserId), yes: bool, report: &mut Report) -> Outcome {
    let layers = open_layers(settings, &mut Patience::of_command())?.run()?;
    let buyer = block_on(layers.store.stock().buyer(activity, &user)).map_err(Failure::failed)?;
    let Some(buyer) = buyer else {
        return Err(Failure::failed("there is no such buyer"));
    };
    report.set("user", user.as_str());
    report.set("ticket", buyer.ticket.to_string());
    report.set("changed", yes);
    if !yes {
        report.line(format!("{} of {user} would be erased from the journal", buyer.ticket))?;
        say("nothing was changed; `--yes` does it");
        return Ok(());
    }
    block_on(layers.store.erase_buyer(activity, user)).map_err(Failure::failed)?;
    report.line("erased; `seckill audit` and `seckill reconcile` will notice")
}

fn with_disk(settings: &Settings, work: impl FnOnce(&Disk) -> Outcome) -> Outcome {
    let _lock = take_folder(settings)?;
    let folder = settings.data_dir.join(JOURNAL_FOLDER);
    let disk = Disk::open(&folder).map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
    work(&disk)
}
