//! Orders of all buyers, newest first.

use http::Uri;
use seckill_ledger::OrderFilter;
use seckill_sale::{ActivityId, UserId};
use serde::Deserialize;

use crate::call::Call;
use crate::error::Error;
use crate::list;
use crate::outer::Reply;
use crate::views::OrderView;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    activity_id: Option<String>,
    user_id: Option<String>,
    limit: Option<String>,
    cursor: Option<String>,
}

/// Orders of one activity, of one user, or all.
pub(crate) async fn list(call: Call, uri: Uri) -> Result<Reply, Error> {
    let asked: Asked = list::query(&uri)?;
    let activity = asked.activity_id.map(|id| id.parse::<ActivityId>()).transpose();
    let user = asked.user_id.map(|user| UserId::new(&user)).transpose();
    let filter = OrderFilter {
        activity: activity.map_err(|error| Error::invalid("activity_id", error.to_string()))?,
        user: user.map_err(|error| Error::invalid("user_id", error.to_string()))?,
    };
    let request = list::page_request(asked.limit.as_deref(), asked.cursor)?;
    let page = list::rows(call.console.ledger().orders(filter, request).await)?;
    Ok(Reply(list::answer("orders", &page, |row| OrderView::from(row))))
}
