//! `seckill recover` and `seckill journal`: for a stopped server. Both hold the data folder's lock while they look and work.

use std::sync::Arc;

use seckill_engine_embedded::journal::{repair, verify};
use seckill_engine_embedded::storage::Disk;
use seckill_flow::{Operator, OperatorSettings, Pace, Results};
use seckill_gate::Catalogue;
use seckill_ledger::Ledger;
use seckill_queue::Queue;
use seckill_sale::{ActivityId, UserId};
use seckill_settings::Settings;
use seckill_stock::Stock;

use super::Context;
use crate::cli::{DataArgs, JournalCommand, RecoverArgs};
use crate::exit::{Failure, Outcome, chain};
use crate::logging::{print, say};
use crate::serve::Patience;
use crate::serve::layers::{JOURNAL_FOLDER, Layers, Opened, Pairing, block_on, open_layers, take_folder};

pub(super) fn recover(context: &Context, args: &RecoverArgs) -> Outcome {
    let settings = context.settings(args.data.flags())?;
    let only = args.id.map(ActivityId::new).transpose().map_err(Failure::usage)?;
    let opened = open_layers(&settings, Patience::of_command())?;
    let belongs = describe(&opened)?;
    let adopted = (
        opened.installation.id,
        opened.engine.installation(),
        opened.engine.acknowledged_batch(),
    );
    let layers = opened.run()?;
    let operator = operator(&layers);
    let plan = block_on(operator.recovery_plan(only)).map_err(|error| Failure::failed(chain(&error)))?;
    if belongs && plan.is_empty() {
        let what = only.map_or_else(
            || "store and database agree".to_owned(),
            |id| format!("activity {id} is sound"),
        );
        return print(&format!("nothing to recover: {what}"));
    }
    for step in &plan {
        print(&step.to_string())?;
    }
    if !args.yes {
        say("nothing was changed; `--yes` does it");
        return Ok(());
    }
    let (id, journal, acknowledged) = adopted;
    if id.is_some_and(|id| id != journal) {
        return Err(Failure::failed(
            "the database belongs to another journal: bring back the one or the other",
        ));
    }
    let done = block_on(operator.recover(only)).map_err(|error| Failure::failed(chain(&error)))?;
    // From here on the database counts as seen, however old it was: what it lacked is queued again.
    block_on(layers.ledger.set_installation(journal, acknowledged)).map_err(Failure::failed)?;
    say(&format!(
        "done: {} activities; start the server to settle what was queued again",
        done.len()
    ));
    Ok(())
}

/// What is wrong, in a sentence; gives whether journal and database belong together.
fn describe(opened: &Opened) -> Result<bool, Failure> {
    let pairing = opened.pairing();
    let belongs = !matches!(pairing, Pairing::Bad(_));
    print(match &pairing {
        Pairing::Good => "journal and database belong together",
        Pairing::Fresh => "journal and database are new",
        Pairing::Bad(why) => why,
    })?;
    Ok(belongs)
}

fn operator(layers: &Layers) -> Operator {
    let stock: Arc<dyn Stock> = Arc::new(layers.engine.clone());
    let queue: Arc<dyn Queue> = Arc::new(layers.engine.clone());
    let ledger: Arc<dyn Ledger> = layers.ledger.clone();
    let results = Arc::new(Results::new(stock.clone(), ledger.clone(), Arc::<Pace>::default()));
    let catalogue = Arc::<Catalogue>::default();
    Operator::new(
        seckill_flow::Layers {
            stock,
            queue,
            ledger,
            results,
            catalogue,
        },
        OperatorSettings::default(),
    )
}

pub(super) fn journal(context: &Context, data: &DataArgs, command: &JournalCommand) -> Outcome {
    let settings = context.settings(data.flags())?;
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
                    "{} was cut at offset {}; the file as it was is {}; {} whole frames behind the damage are gone",
                    done.file, done.offset, done.copy, done.frames_lost
                )),
            }
        }),
        JournalCommand::EraseBuyer { activity, user } => {
            let activity = ActivityId::new(*activity).map_err(Failure::usage)?;
            let user = UserId::new(user).map_err(Failure::usage)?;
            let layers = open_layers(&settings, Patience::of_command())?.run()?;
            match block_on(layers.engine.erase_buyer(activity, user)).map_err(Failure::failed)? {
                true => print("erased; `seckill audit` and `seckill reconcile` will notice"),
                false => Err(Failure::failed("there is no such buyer")),
            }
        }
    }
}

fn with_disk(settings: &Settings, work: impl FnOnce(&Disk) -> Outcome) -> Outcome {
    let _lock = take_folder(settings)?;
    let folder = settings.data_dir.join(JOURNAL_FOLDER);
    let disk = Disk::open(&folder).map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
    work(&disk)
}
