//! Activities: made, listed, shown, changed. What is done to them beyond their row is in `actions.rs`.

use http::header::LOCATION;
use http::{HeaderValue, StatusCode, Uri};
use seckill_api::Answer;
use seckill_flow::Error as Flow;
use seckill_ledger::{ActivityPatch, Conflict, Error as Ledger, NewActivity};
use seckill_sale::{Activity, Challenge, Price, Quantity, Window};
use serde::Deserialize;

use crate::call::{Call, InPath};
use crate::error::Error;
use crate::input;
use crate::list::{self, PageQuery};
use crate::made::Made;
use crate::offer::{LevelAsked, Offer, check_limit};
use crate::outer::Reply;
use crate::views::ActivityView;
use crate::write::Write;

const fn one() -> u64 {
    1
}

/// An activity to be made.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    product_id: u64,
    title: String,
    seckill_price_cents: u64,
    stock: u64,
    starts_at: String,
    ends_at: String,
    #[serde(default = "one")]
    per_user_limit: u64,
    #[serde(default = "one")]
    shards: u64,
    #[serde(default)]
    challenge: Challenge,
    #[serde(default)]
    eligibility: Option<LevelAsked>,
    #[serde(default)]
    draft: bool,
    #[serde(default)]
    notice: Option<String>,
}

pub(crate) fn narrowed(wanted: Wanted, shards_max: u16) -> Result<NewActivity, Error> {
    let starts_at = input::moment("starts_at", &wanted.starts_at)?;
    let ends_at = input::moment("ends_at", &wanted.ends_at)?;
    let window = Window::new(starts_at, ends_at).ok_or_else(empty_window)?;
    let offer = Offer {
        product_id: wanted.product_id,
        title: wanted.title,
        seckill_price_cents: wanted.seckill_price_cents,
        stock: wanted.stock,
        per_user_limit: wanted.per_user_limit,
        shards: wanted.shards,
        challenge: wanted.challenge,
        eligibility: wanted.eligibility,
        notice: wanted.notice,
    };
    let activity = offer.within(window, shards_max)?;
    Ok(NewActivity {
        draft: wanted.draft,
        ..activity
    })
}

fn empty_window() -> Error {
    Error::invalid("ends_at", "must lie after starts_at")
}

/// Makes an activity; its units are taken from the product.
pub(crate) async fn create(Write { call, body, context }: Write<Wanted>) -> Result<Reply, Error> {
    let activity = narrowed(body, call.console.settings.shards_max)?;
    let activity = call.console.operator.create_activity(activity, context).await?;
    let made = Made::new(&call, &activity);
    let answer = Answer::fine(&made).status(StatusCode::CREATED);
    Ok(Reply(answer.header(
        LOCATION,
        location("/admin/api/activities", activity.id.get()),
    )))
}

/// All activities, newest first.
pub(crate) async fn list(call: Call, uri: Uri) -> Result<Reply, Error> {
    let request = PageQuery::of(&uri)?;
    let page = list::rows(call.console.ledger().activities(request).await)?;
    Ok(Reply(list::answer("activities", &page, |row| view(&call, row))))
}

/// One activity.
pub(crate) async fn show(call: Call, InPath(id): InPath) -> Result<Reply, Error> {
    let activity = call.console.ledger().activity(id).await?;
    Ok(shown(&call, &activity))
}

/// Attempts where the activity changes between its reading and its writing.
const ATTEMPTS_MAX: u32 = 5;

/// A change of an activity: names only what changes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Patch {
    #[serde(default, deserialize_with = "input::named")]
    version: Option<u64>,
    #[serde(default, deserialize_with = "input::named")]
    title: Option<String>,
    #[serde(default, deserialize_with = "input::named")]
    seckill_price_cents: Option<u64>,
    #[serde(default, deserialize_with = "input::named")]
    starts_at: Option<String>,
    #[serde(default, deserialize_with = "input::named")]
    ends_at: Option<String>,
    #[serde(default, deserialize_with = "input::named")]
    per_user_limit: Option<u64>,
    #[serde(default, deserialize_with = "input::named")]
    challenge: Option<Challenge>,
    /// `null` opens the sale to everybody.
    #[serde(default, deserialize_with = "input::named")]
    eligibility: Option<Option<LevelAsked>>,
    /// `null` removes it.
    #[serde(default, deserialize_with = "input::named")]
    notice: Option<Option<String>>,
    #[serde(default)]
    publish: bool,
}

impl Patch {
    /// The change, if `present` with it is still an activity.
    fn narrowed(self, present: &Activity) -> Result<ActivityPatch, Error> {
        let price = |cents| input::number("seckill_price_cents", cents, Price::new);
        let quantity = |units| input::number("per_user_limit", units, Quantity::new);
        let patch = ActivityPatch {
            version: self.version,
            title: self.title.map(|title| input::title("title", title)).transpose()?,
            seckill_price: self.seckill_price_cents.map(price).transpose()?,
            starts_at: self.starts_at.map(|at| input::moment("starts_at", &at)).transpose()?,
            ends_at: self.ends_at.map(|at| input::moment("ends_at", &at)).transpose()?,
            per_user_limit: self.per_user_limit.map(quantity).transpose()?,
            challenge: self.challenge,
            min_level: self.eligibility.flatten().map(|asked| asked.min_level),
            for_everybody: matches!(self.eligibility, Some(None)),
            notice: self.notice.map(notice).transpose()?,
            publish: self.publish,
        };
        let window = present.window;
        let starts_at = patch.starts_at.unwrap_or(window.starts_at);
        Window::new(starts_at, patch.ends_at.unwrap_or(window.ends_at)).ok_or_else(empty_window)?;
        if let Some(limit) = patch.per_user_limit {
            check_limit(limit, present.stock_total)?;
        }
        Ok(patch)
    }
}

/// The ledger takes an empty notice for none.
fn notice(notice: Option<String>) -> Result<String, Error> {
    notice.map_or_else(|| Ok(String::new()), |notice| input::sentence("notice", notice))
}

/// Changes an activity.
pub(crate) async fn patch(InPath(id): InPath, Write { call, body, context }: Write<Patch>) -> Result<Reply, Error> {
    for _ in 0..ATTEMPTS_MAX {
        let present = call.console.ledger().activity(id).await?;
        let mut patch = body.clone().narrowed(&present)?;
        // What was checked against one version must not be written over another.
        patch.version = patch.version.or(Some(present.version));
        match call.console.operator.patch_activity(id, patch, context.clone()).await {
            Ok(activity) => return Ok(shown(&call, &activity)),
            Err(Flow::Ledger(Ledger::Conflict(Conflict::StaleVersion))) if body.version.is_none() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Conflict::StaleVersion.into())
}

/// An activity as it stands now.
pub(crate) fn view(call: &Call, activity: &Activity) -> ActivityView {
    let console = &call.console;
    let in_force = console.operator.in_force(activity.clone());
    let mut view = ActivityView::new(&in_force, console.stock().stock_left(activity.id), console.now());
    view.ledger_pending = console.operator.is_pending(activity.id);
    view
}

/// The answer that shows it.
pub(crate) fn shown(call: &Call, activity: &Activity) -> Reply {
    Reply(Answer::fine(&view(call, activity)))
}

/// Where a new row is found.
pub(crate) fn location(folder: &str, id: u64) -> HeaderValue {
    HeaderValue::from_str(&format!("{folder}/{id}")).expect("a path of ours is visible ASCII")
}
