//! The books: the conservation equation, store and ledger side by side, movements of units, and who did what.

use http::Uri;
use seckill_api::Answer;
use seckill_flow::{Audit, DifferenceKind, Fix, Report};
use seckill_ledger::written;
use serde::{Deserialize, Serialize};

use crate::call::{Call, InPath};
use crate::error::Error;
use crate::house_views::AuditRowView;
use crate::list::{self, PageQuery};
use crate::outer::Reply;
use crate::views::MovementView;
use crate::write::Write;

/// The conservation equation of one activity, in units.
pub(crate) async fn audit(call: Call, InPath(id): InPath) -> Result<Reply, Error> {
    let audit: Audit = call.console.operator.audit(id).await?;
    Ok(Reply(Answer::fine(&audit)))
}

/// Whether differences are put right.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    #[serde(default)]
    fix: bool,
}

#[derive(Serialize)]
struct Reconciled<'a> {
    /// Whether nothing is left to be put right.
    clean: bool,
    /// What to do about each kind of difference that was found.
    remedies: Vec<Remedy>,
    #[serde(flatten)]
    report: &'a Report,
}

#[derive(Serialize)]
struct Remedy {
    kind: DifferenceKind,
    remedy: &'static str,
}

fn remedies(report: &Report) -> Vec<Remedy> {
    let mut kinds: Vec<_> = report.differences.iter().map(|difference| difference.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let remedy = |kind: DifferenceKind| Remedy {
        kind,
        remedy: kind.remedy(),
    };
    kinds.into_iter().map(remedy).collect()
}

/// Store, queue and ledger side by side; dry unless asked to fix.
pub(crate) async fn reconcile(
    InPath(id): InPath,
    Write { call, body, context }: Write<Wanted>,
) -> Result<Reply, Error> {
    // A sale without a state has nothing to compare, but one that nobody made is unknown.
    call.console.ledger().activity(id).await?;
    let fix = if body.fix { Fix::Differences } else { Fix::Nothing };
    let report = call.console.operator.reconcile(id, fix).await?;
    if fix == Fix::Differences {
        if report.differences.iter().any(|difference| difference.fixed) {
            written::note();
        }
        let (before, after) = (text(&report.before), text(&report));
        let ledger = call.console.ledger();
        let action = "activity.reconcile".to_owned();
        ledger
            .add_audit_row(action, format!("activity {id}"), before, after, context)
            .await?;
    }
    let answer = Answer::fine(&Reconciled {
        clean: report.is_clean(),
        remedies: remedies(&report),
        report: &report,
    });
    Ok(Reply(answer))
}

/// JSON for an audit row.
pub(crate) fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Movements of units, oldest first.
pub(crate) async fn movements(call: Call, InPath(id): InPath, uri: Uri) -> Result<Reply, Error> {
    let request = PageQuery::of(&uri)?;
    call.console.ledger().activity(id).await?;
    let page = list::rows(call.console.ledger().movements(id, request).await)?;
    Ok(Reply(list::answer("movements", &page, |row| MovementView::from(row))))
}

/// Every write of an operator and of the house itself, newest first.
pub(crate) async fn rows(call: Call, uri: Uri) -> Result<Reply, Error> {
    let request = PageQuery::of(&uri)?;
    let page = list::rows(call.console.ledger().audit_rows(request).await)?;
    Ok(Reply(list::answer("audit_rows", &page, |row| AuditRowView::from(row))))
}
