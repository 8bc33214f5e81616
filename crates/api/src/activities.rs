//! `GET /api/activities` and `GET /api/activities/{id}`: what everybody reloads while he waits. Rendered once in a while for each core;
//! a request only adds the server's time and its own id.
//!
//! Whatever decides what a visitor can do (phase, challenge, the row itself) shows at once; units left may lag by [`crate::cached_page::LAG_MS_MAX`].

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use http::HeaderValue;
use http::request::Parts;
use seckill_sale::{Activity, ActivityId, Status};

use crate::activity_view::{ActivityView, Standing};
use crate::answer::Answer;
use crate::cached_page::Page;
use crate::call::Call;
use crate::error::Error;
use crate::path;

/// Activities of a list; the unended come first.
const LIST_MAX: usize = 500;

const BY_LANGUAGE: HeaderValue = HeaderValue::from_static("accept-language");
const BY_LANGUAGE_AND_ORIGIN: HeaderValue = HeaderValue::from_static("accept-language, origin");

/// Pages that one core rendered. Holds known activities only, so that it can't outgrow the catalogue.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    by_id: HashMap<ActivityId, ActivityPage>,
    list: Option<Page>,
}

#[derive(Debug)]
struct ActivityPage {
    activity: Arc<Activity>,
    standing: Standing,
    page: Page,
}

/// One activity.
pub(crate) fn activity(call: &Call, head: &Parts) -> Result<Answer, Error> {
    call.visitor(&head.headers)?;
    let id = path::activity_id(path::last_segment(head.uri.path()))?;
    let activity = call.visible_activity(id)?;
    Ok(activity_page(call, &activity).answer(&head.headers, call.moment.now))
}

/// All of them.
pub(crate) async fn activities(call: Call, head: Parts) -> Result<Answer, Error> {
    call.visitor(&head.headers)?;
    Ok(list_page(&call).answer(&head.headers, call.moment.now))
}

fn standing(call: &Call, activity: &Activity) -> Standing {
    let shared = call.shared();
    let stock_left = shared.stock.stock_left(activity.id);
    Standing::new(activity, &shared.gate.switches(), stock_left, call.moment.now)
}

fn activity_page(call: &Call, activity: &Arc<Activity>) -> Page {
    let now = call.moment.now;
    let standing = standing(call, activity);
    let mut pages = call.core.pages.lock();
    if let Some(kept) = pages.by_id.get(&activity.id) {
        let lags_only = Standing {
            stock_left: kept.standing.stock_left,
            ..standing
        } == kept.standing;
        let same = standing == kept.standing || (lags_only && kept.page.is_fresh(now));
        if same && kept.activity == *activity {
            return kept.page.clone();
        }
    }
    let members = members(call, activity, standing);
    // Without the opening brace: the server's time comes first.
    let page = Page::new(&members[1..], now, vary(call));
    let kept = ActivityPage {
        activity: activity.clone(),
        standing,
        page: page.clone(),
    };
    pages.by_id.insert(activity.id, kept);
    let known = call.shared().gate.catalogue().all();
    if known.len() < pages.by_id.len() {
        pages.by_id.retain(|id, _| known.contains_key(id));
    }
    page
}

fn members(call: &Call, activity: &Activity, standing: Standing) -> Vec<u8> {
    let view = ActivityView::new(activity, standing, &call.shared().settings);
    serde_json::to_vec(&view).expect("texts and numbers serialize")
}

fn list_page(call: &Call) -> Page {
    let now = call.moment.now;
    let mut pages = call.core.pages.lock();
    if let Some(list) = pages.list.as_ref().filter(|list| list.is_fresh(now)) {
        return list.clone();
    }
    let known = call.shared().gate.catalogue().all();
    let mut shown: Vec<_> = known
        .values()
        .filter(|activity| activity.status != Status::Draft)
        .collect();
    shown.sort_unstable_by_key(|activity| {
        let ended = activity.status == Status::Closed || activity.window.ends_at <= now;
        let starts_at = activity.window.starts_at.0;
        (ended, if ended { -starts_at } else { starts_at }, Reverse(activity.id))
    });
    let mut members = b"\"activities\":[".to_vec();
    for (n, activity) in shown.into_iter().take(LIST_MAX).enumerate() {
        if 0 < n {
            members.push(b',');
        }
        members.extend(self::members(call, activity, standing(call, activity)));
    }
    members.extend_from_slice(b"]}");
    let page = Page::new(&members, now, vary(call));
    pages.list = Some(page.clone());
    page
}

/// What answers differ by, so that caches must know.
fn vary(call: &Call) -> HeaderValue {
    if call.shared().origins.vary() {
        BY_LANGUAGE_AND_ORIGIN
    } else {
        BY_LANGUAGE
    }
}
