//! `seckill recover`: for a stopped server. It holds the data folder's lock while it looks and works.

use std::sync::Arc;

use seckill_flow::{Apart, Operator, OperatorSettings, Pace, PlannedStep, Results};
use seckill_gate::Catalogue;
use seckill_ledger::Ledger;
use seckill_sale::{ActivityId, InstallationId};
use seckill_settings::{DatabaseUrl, Settings};
use serde_json::{Value, json};

use super::Context;
use super::report::Report;
use crate::cli::RecoverArgs;
use crate::exit::{Failure, Outcome, chain};
use crate::logging::say;
use crate::serve::ALIVE_MS;
use crate::serve::Patience;
use crate::serve::layers::{Layers, Pairing, block_on, open_layers, random_bytes};
use crate::serve::store::{JOURNAL_FOLDER, Standing};

pub(super) fn recover(context: &Context, args: &RecoverArgs) -> Outcome {
    let mut report = Report::new(context);
    let outcome = run(context, args, &mut report);
    report.end(outcome)
}

fn run(context: &Context, args: &RecoverArgs, report: &mut Report) -> Outcome {
    let settings = context.settings(args.data.flags())?;
    let only = args.id.map(ActivityId::new).transpose().map_err(Failure::usage)?;
    let has_database = match &settings.database.url {
        DatabaseUrl::Sqlite(path) => path.exists(),
        DatabaseUrl::Remote(_) => true,
    };
    if !settings.data_dir.join(JOURNAL_FOLDER).is_dir() && !has_database {
        return Err(no_data(&settings));
    }
    let opened = open_layers(&settings, &mut Patience::of_command())?;
    let pairing = opened.pairing();
    let (id, standing) = (opened.installation.id, opened.standing());
    let layers = opened.run()?;
    refuse_beside_others(&layers)?;
    let is_sound = describe(&pairing, layers.apart()?, report)?;
    let operator = operator(&layers);
    let plan = plan(&operator, only)?;
    report.set("steps", plan.iter().map(told).collect::<Vec<_>>());
    report.set("changed", false);
    if is_sound && plan.is_empty() {
        let what = only.map_or_else(
            || "store and database agree".to_owned(),
            |id| format!("activity {id} is sound"),
        );
        return report.line(format!("nothing to recover: {what}"));
    }
    plan.iter().try_for_each(|step| report.line(step))?;
    if let Pairing::Gone(_) = pairing {
        return Err(Failure::failed(
            "nothing was changed: restore a copy of the database; nothing else brings products, activities and orders back",
        ));
    }
    if !args.give_up_unknown && plan.iter().any(is_foreign) {
        return Err(Failure::failed(
            "nothing was changed: restore a copy of the database that has these activities; where there is none, \
             `recover --yes --give-up-unknown` gives them up, with their buyers and tickets",
        ));
    }
    if !args.yes {
        say("nothing was changed; `--yes` does it");
        return Ok(());
    }
    if id.is_some_and(|id| standing.id.is_some_and(|its| its != id)) {
        return Err(Failure::failed(
            "the database belongs to another store: bring back the one or the other",
        ));
    }
    report.set("changed", true);
    carry_out(&layers, &operator, only, (standing, id), report)
}

/// A step with its sentence.
fn told(step: &PlannedStep) -> Value {
    let mut told = json!(step);
    told["said"] = step.to_string().into();
    told
}

/// Recovery is for a quiet house: with an own store the folder's lock says so, with a shared one the processes that live.
fn refuse_beside_others(layers: &Layers) -> Outcome {
    let living = block_on(layers.store.members().members(ALIVE_MS)).map_err(Failure::unreachable)?;
    if living.is_empty() {
        return Ok(());
    }
    let named: Vec<_> = living
        .iter()
        .map(|living| format!("{} ({})", living.member.id, living.member.roles.join(",")))
        .collect();
    Err(Failure::failed(format!(
        "processes use this store: {}; end them first, and wait {} s for one that was killed. What a store lost is rebuilt by them",
        named.join(", "),
        ALIVE_MS / 1000
    )))
}

fn carry_out(
    layers: &Layers,
    operator: &Operator,
    only: Option<ActivityId>,
    (standing, database): (Standing, Option<InstallationId>),
    report: &mut Report,
) -> Outcome {
    for step in plan(operator, only)?.iter().filter(|step| is_foreign(step)) {
        if let PlannedStep::Foreign { activity } = step {
            block_on(layers.store.stock().forget(*activity)).map_err(Failure::failed)?;
            say(&format!(
                "activity {activity} is given up; its number will be used again"
            ));
        }
    }
    let done = block_on(operator.recover(only)).map_err(|error| Failure::failed(chain(&error)))?;
    report.set("recovered", done.len());
    let is_left = |step: &PlannedStep| step.changes() && only.is_some_and(|only| only != step.activity());
    let are_others_left = plan(operator, None)?.iter().any(is_left);
    report.set("others_left", are_others_left);
    if are_others_left {
        say(&format!(
            "done: {} activities; others are left, and the server will not start before: `seckill recover` lists them",
            done.len()
        ));
        return Ok(());
    }
    // From here on the database counts as seen, however old it was: what it lacked is queued again.
    let id = database
        .or(standing.id)
        .unwrap_or_else(|| InstallationId(random_bytes()));
    let id = layers.store.tie(id, &mut Patience::of_command())?;
    block_on(layers.ledger.set_installation(id, standing.acknowledged)).map_err(Failure::failed)?;
    say(&format!(
        "done: {} activities; start the server to settle what was queued again",
        done.len()
    ));
    Ok(())
}

fn plan(operator: &Operator, only: Option<ActivityId>) -> Result<Vec<PlannedStep>, Failure> {
    block_on(operator.recovery_plan(only)).map_err(|error| Failure::failed(chain(&error)))
}

const fn is_foreign(step: &PlannedStep) -> bool {
    matches!(step, PlannedStep::Foreign { .. })
}

/// What is wrong, in a sentence; gives whether journal and database belong together.
fn describe(pairing: &Pairing, apart: Option<Apart>, report: &mut Report) -> Result<bool, Failure> {
    let said = match (pairing, &apart) {
        (Pairing::Bad(why) | Pairing::Gone(why), _) => why.clone(),
        (_, Some(apart)) => apart.to_string(),
        (Pairing::Good, None) => "journal and database belong together".to_owned(),
        (Pairing::Fresh, None) => "journal and database are new".to_owned(),
    };
    let is_sound = apart.is_none() && matches!(pairing, Pairing::Good | Pairing::Fresh);
    report.line(&said)?;
    report.set("said", said);
    report.set("belong_together", is_sound);
    Ok(is_sound)
}

pub(super) fn no_data(settings: &Settings) -> Failure {
    Failure::failed(format!(
        "there is no data in {}; `--data-dir` names another folder",
        settings.data_dir.display()
    ))
}

fn operator(layers: &Layers) -> Operator {
    let (stock, queue) = (layers.store.stock(), layers.store.queue());
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
