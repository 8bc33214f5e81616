//! What store and database say of themselves, as lines: one where all is well, else one for each thing that is not.

use seckill_sale::{Finding, Severity};

use crate::check::Check;

/// Lines of findings that belong to one area of the checklist.
pub(crate) fn lines(area: &'static str, findings: &[Finding]) -> Vec<Check> {
    let bad = findings.iter().filter(|finding| finding.severity != Severity::Passed);
    let bad: Vec<_> = bad.map(|finding| line(area, finding)).collect();
    if !bad.is_empty() {
        return bad;
    }
    let looked_at: Vec<_> = findings.iter().map(|finding| finding.area).collect();
    vec![match looked_at.is_empty() {
        true => Check::passed(area, "there is nothing to set: its files are this process's own"),
        false => Check::passed(area, format!("as they must be: {}", looked_at.join(", "))),
    }]
}

/// A finding as a line.
pub(crate) fn line(area: &'static str, finding: &Finding) -> Check {
    let said = finding.sentence.as_str();
    match finding.severity {
        Severity::Passed => Check::passed(area, said),
        Severity::Warning => Check::warning(area, said),
        Severity::Failed => Check::failed(area, said),
    }
}
