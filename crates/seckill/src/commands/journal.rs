//! `seckill journal`: for a stopped server. It holds the data folder's lock while it looks and works.

use seckill_engine_embedded::journal::{repair, verify};
use seckill_engine_embedded::storage::Disk;
use seckill_sale::{ActivityId, UserId};
use seckill_settings::Settings;

use super::Context;
use super::recover::no_data;
use crate::cli::{DataArgs, JournalCommand};
use crate::exit::{Failure, Outcome, chain};
use crate::logging::{print, say};
use crate::serve::Patience;
use crate::serve::layers::{block_on, open_layers, take_folder};
use crate::serve::store::JOURNAL_FOLDER;

pub(super) fn journal(context: &Context, data: &DataArgs, command: &JournalCommand) -> Outcome {
    let settings = context.settings(data.flags())?;
    if !settings.data_dir.join(JOURNAL_FOLDER).is_dir() {
        return Err(no_data(&settings));
    }
    match command {
        JournalCommand::Verify => with_disk(&settings, |disk| {
            let report = verify(disk).map_err(|error| Failure::failed(chain(&error)))?;
            for file in &report.files {
                print(&format!("{}: {} frames, {} bytes", file.name, file.frames, file.bytes))?;
            }
            report
                .problems
                .iter()
                .try_for_each(|problem| print(&format!("damaged: {problem}")))?;
            match report.problems.len() {
                0 => print("the journal is sound"),
                count => Err(Failure::violated(format!("the journal is damaged in {count} places"))),
            }
        }),
        JournalCommand::Repair => with_disk(&settings, |disk| {
            match repair(disk).map_err(|error| Failure::failed(chain(&error)))? {
                None => print("nothing is damaged; nothing was changed"),
                Some(done) => print(&format!(
                    "{} was cut at offset {}; the file as it was is {}; {} whole frames behind the damage are gone. \
                     Next: `seckill recover` compares what is left with the database",
                    done.file, done.offset, done.copy, done.frames_lost
                )),
            }
        }),
        JournalCommand::EraseBuyer { activity, user, yes } => {
            let activity = ActivityId::new(*activity).map_err(Failure::usage)?;
            let user = UserId::new(user).map_err(Failure::usage)?;
            erase(&settings, activity, user, *yes)
        }
    }
}

fn erase(settings: &Settings, activity: ActivityId, user: UserId, yes: bool) -> Outcome {
    let layers = open_layers(settings, &mut Patience::of_command())?.run()?;
    let buyer = block_on(layers.store.stock().buyer(activity, &user)).map_err(Failure::failed)?;
    let Some(buyer) = buyer else {
        return Err(Failure::failed("there is no such buyer"));
    };
    if !yes {
        print(&format!("{} of {user} would be erased from the journal", buyer.ticket))?;
        say("nothing was changed; `--yes` does it");
        return Ok(());
    }
    block_on(layers.store.erase_buyer(activity, user)).map_err(Failure::failed)?;
    print("erased; `seckill audit` and `seckill reconcile` will notice")
}

fn with_disk(settings: &Settings, work: impl FnOnce(&Disk) -> Outcome) -> Outcome {
    let _lock = take_folder(settings)?;
    let folder = settings.data_dir.join(JOURNAL_FOLDER);
    let disk = Disk::open(&folder).map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
    work(&disk)
}
