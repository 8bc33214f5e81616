//! Who may buy in a sale that is for some only: its list of users, put in whole or not at all. The least level stands beside the activity.
//!
//! The ledger keeps the list; this node's gate follows before the answer, other nodes by their own [`refresh`].

mod lines;
mod upload;

use std::sync::Arc;

use axum::extract::Request;
use seckill_api::Answer;
use seckill_gate::{ELIGIBLE_LISTS_MAX, EligibleUsers};
use seckill_ledger::{Context, EligibleForm, EligibleList, Error as Ledger};
use seckill_sale::{Activity, ActivityId, Status};
use serde::Serialize;

use crate::call::{Call, InPath};
use crate::error::Error;
use crate::outer::Reply;
use crate::state::Console;
use crate::write::{Nothing, Write};

use upload::Listed;
pub(crate) use upload::check;

/// Who may buy.
#[derive(Debug, Serialize)]
struct EligibilityView {
    activity_id: u64,
    min_level: Option<u32>,
    list: Option<ListView>,
}

#[derive(Debug, Serialize)]
struct ListView {
    /// Changes with each upload.
    version: u64,
    /// `users` or `bloom`; null on a node that has not read the list yet.
    form: Option<&'static str>,
    /// Different users; null of a Bloom filter.
    users: Option<usize>,
}

fn shown(console: &Console, activity: &Activity) -> Reply {
    let known = console.gate.eligible().of(activity.id);
    let list = activity.eligibility.list.map(|version| {
        let known = known.filter(|list| list.version() == version);
        ListView {
            version,
            form: known.as_ref().map(|list| list.users().map_or("bloom", |_| "users")),
            users: known.and_then(|list| list.users()),
        }
    });
    Reply(Answer::fine(&EligibilityView {
        activity_id: activity.id.get(),
        min_level: activity.eligibility.min_level,
        list,
    }))
}

/// Who may buy.
pub(crate) async fn show(call: Call, InPath(id): InPath) -> Result<Reply, Error> {
    let activity = call.console.ledger().activity(id).await?;
    Ok(shown(&call.console, &activity))
}

/// Puts a list in the place of the present one.
pub(crate) async fn set(call: Call, InPath(id): InPath, request: Request) -> Result<Reply, Error> {
    let upload::Upload { listed, context } = upload::read(&call, request).await?;
    let activity = put(&call, id, listed, context).await?;
    Ok(shown(&call.console, &activity))
}

async fn put(call: &Call, id: ActivityId, listed: Listed, context: Context) -> Result<Activity, Error> {
    let console = &*call.console;
    let Listed { kept, looked_up } = listed;
    let _one_at_a_time = console.listing.lock().await;
    let listed = console.ledger().eligible_versions().await?;
    if ELIGIBLE_LISTS_MAX <= listed.len() && listed.iter().all(|(with_list, _)| *with_list != id) {
        let why = format!("{ELIGIBLE_LISTS_MAX} sales that are not over have a list of users: no more may have one");
        return Err(Error::conflict(why));
    }
    // Of a request that was carried out before, the activity may have a later list by now.
    let has_this = |activity: &Activity| activity.eligibility.list.filter(|_| !call.replayed.is_told());
    // In force before the activity shows that there is a list, so that nobody comes between the two.
    let put_in_force = |activity: &Activity| {
        if let Some(version) = has_this(activity) {
            console
                .gate
                .eligible()
                .put(id, &Arc::new(looked_up.of_version(version)));
        }
    };
    let setting = console
        .operator
        .set_eligible_list(id, Arc::new(kept), context, put_in_force);
    let activity = setting.await?;
    if has_this(&activity).is_none() {
        take_over_or_later(console).await;
    }
    Ok(activity)
}

/// Takes the list away: the sale is for everybody again, as far as his level allows.
pub(crate) async fn remove(InPath(id): InPath, write: Write<Nothing>) -> Result<Reply, Error> {
    let Write { call, context, .. } = write;
    let console = &*call.console;
    let _one_at_a_time = console.listing.lock().await;
    let activity = console.operator.remove_eligible_list(id, context).await?;
    take_over_or_later(console).await;
    Ok(shown(console, &activity))
}

/// Shows the gate a list, which is prepared where nobody waits for it.
async fn put_in_force(console: &Console, id: ActivityId, version: u64, list: EligibleList) {
    match tokio::task::spawn_blocking(move || in_force(version, list)).await {
        Ok(Some(list)) => console.gate.eligible().put(id, &Arc::new(list)),
        Ok(None) => tracing::error!(%id, "a stored list of users can't be read"),
        Err(error) => tracing::error!(%id, %error, "a stored list of users was not read"),
    }
}

/// A list as the gate looks it up; none where what the ledger has is no list.
fn in_force(version: u64, list: EligibleList) -> Option<EligibleUsers> {
    match list.form {
        EligibleForm::Users { salt } => {
            let (fingerprints, rest) = list.bytes.as_chunks::<8>();
            let fingerprints = fingerprints.iter().map(|bytes| u64::from_be_bytes(*bytes)).collect();
            rest.is_empty()
                .then(|| EligibleUsers::of_fingerprints(version, salt, fingerprints))
        }
        EligibleForm::Bloom { bits, hashes } => EligibleUsers::bloom(version, list.bytes, bits, hashes),
    }
}

/// Whether buyers of the sale are looked up in its list.
fn asks_for_list(activity: &Activity) -> bool {
    activity.eligibility.list.is_some() && activity.status != Status::Closed
}

/// Reads the lists that this node does not have, and forgets those that are over. The caller holds the lock.
async fn take_over(console: &Console) -> Result<(), Ledger> {
    let versions = console.ledger().eligible_versions().await?;
    let known = console.gate.eligible();
    for &(id, version) in &versions {
        if known.of(id).is_some_and(|list| list.version() == version) {
            continue;
        }
        let Some(list) = console.ledger().eligible_list(id, version).await? else {
            continue;
        };
        put_in_force(console, id, version, list).await;
    }
    // The catalogue follows by itself: while it still says that there is a list, nobody hears that it has not come yet.
    let catalogue = console.gate.catalogue().all();
    let is_asked_for = |id| catalogue.get(&id).is_some_and(|activity| asks_for_list(activity));
    known.keep(|id| versions.iter().any(|(listed, _)| *listed == id) || is_asked_for(id));
    Ok(())
}

/// Once the ledger has what was asked, and the gate the activity with it: the rest is other lists' and room for them, which [`refresh`]
/// repeats. The caller holds the lock.
async fn take_over_or_later(console: &Console) {
    if let Err(error) = take_over(console).await {
        tracing::debug!(%error, "lists of other sales are read later");
    }
}

/// Takes over what other nodes have set.
pub(crate) async fn refresh(console: &Console) -> Result<(), Ledger> {
    let _one_at_a_time = console.listing.lock().await;
    take_over(console).await
}
