//! What an examination of a store or a database finds: said at the start, and a line each of the checklist before a sale.

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It is as it should be.
    Passed,
    /// A sale would run; somebody should know.
    Warning,
    /// A sale would not run, or sales could be lost or doubled.
    Failed,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at, in a word: `version`, `rights`, the name of a server's setting.
    pub area: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence for an operator: what was found, and where it is not good, what to do.
    pub sentence: String,
}

impl Finding {
    /// A finding.
    pub fn new(area: &'static str, severity: Severity, sentence: impl Into<String>) -> Self {
        Self {
            area,
            severity,
            sentence: sentence.into(),
        }
    }

    /// Something that is as it should be.
    pub fn passed(area: &'static str, sentence: impl Into<String>) -> Self {
        Self::new(area, Severity::Passed, sentence)
    }

    /// Something that somebody should know.
    pub fn warning(area: &'static str, sentence: impl Into<String>) -> Self {
        Self::new(area, Severity::Warning, sentence)
    }

    /// Something that would spoil a sale.
    pub fn failed(area: &'static str, sentence: impl Into<String>) -> Self {
        Self::new(area, Severity::Failed, sentence)
    }
}
