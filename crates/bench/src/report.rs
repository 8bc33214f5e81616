//! What a benchmark says at its end: as text for a terminal, as one JSON document, as a page. It decides the exit code, too.

use serde::Serialize;

use crate::article::ArticleReport;
use crate::bots::BotsReport;
use crate::canonical::SaleReport;
use crate::comparison::RatioReport;
use crate::expiry::ExpiryReport;
use crate::flood::FloodReport;
use crate::memory::MemoryReport;
use crate::overload::OverloadReport;
use crate::restart::RestartReport;
use crate::soak::SoakReport;
use crate::switches::SwitchesReport;
use crate::{html, text};

pub use crate::text::plan_text;

/// Everything that one call of the benchmark has measured.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// The sale.
    pub sale: Option<SaleReport>,
    /// Comparisons with the bare listener.
    pub ratios: Vec<RatioReport>,
    /// The comparison with the articles' algorithm on Redis.
    pub article: Option<ArticleReport>,
    /// Overloads.
    pub overloads: Vec<OverloadReport>,
    /// What a buyer, a stream, a forged request cost in memory.
    pub memory: Option<MemoryReport>,
    /// Sale after sale on one process.
    pub soak: Option<SoakReport>,
    /// A server that was killed behind a large sale, and started again.
    pub restart: Option<RestartReport>,
    /// Unpaid orders that came due at once.
    pub expiries: Vec<ExpiryReport>,
    /// A bot farm among the buyers, under each set of rules.
    pub bots: Vec<BotsReport>,
    /// Buyers in a flood of forged requests.
    pub flood: Option<FloodReport>,
    /// The operator's switches at several nodes.
    pub switches: Option<SwitchesReport>,
}

impl Report {
    /// What must hold and doesn't, of all parts.
    pub fn violations(&self) -> Vec<&str> {
        let sale = self.sale.iter().flat_map(|sale| &sale.violations);
        let ratios = self.ratios.iter().flat_map(|ratio| &ratio.violations);
        let article = self.article.iter().flat_map(|article| &article.violations);
        let overloads = self.overloads.iter().flat_map(|overload| &overload.violations);
        let memory = self.memory.iter().flat_map(|memory| &memory.violations);
        let soak = self.soak.iter().flat_map(|soak| &soak.violations);
        let restart = self.restart.iter().flat_map(|restart| &restart.violations);
        let expiries = self.expiries.iter().flat_map(|expiry| &expiry.violations);
        let bots = self.bots.iter().flat_map(|bots| &bots.violations);
        let flood = self.flood.iter().flat_map(|flood| &flood.violations);
        let switches = self.switches.iter().flat_map(|switches| &switches.violations);
        let limits = overloads
            .chain(memory)
            .chain(soak)
            .chain(restart)
            .chain(expiries)
            .chain(bots)
            .chain(flood)
            .chain(switches);
        sale.chain(ratios)
            .chain(article)
            .chain(limits)
            .map(String::as_str)
            .collect()
    }

    /// 3 where a checked condition is violated, else 0. A missed speed alone is no violation.
    pub fn exit_code(&self) -> u8 {
        if self.violations().is_empty() { 0 } else { 3 }
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        text::of_report(self)
    }

    /// One JSON document; `violations` and `exit_code` stand at its top.
    pub fn json(&self) -> String {
        let whole = serde_json::json!({"exit_code": self.exit_code(), "violations": self.violations(), "report": self});
        format!("{whole:#}\n")
    }

    /// A page that needs nothing but itself: no script, no font, no image from elsewhere.
    pub fn html(&self) -> String {
        html::page(self)
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
