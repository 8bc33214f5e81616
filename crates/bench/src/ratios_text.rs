//! Comparisons with the bare listener, for a terminal.

use crate::comparison::RatioReport;
use crate::store_figures::{COMMANDS_PER_1000_MAX, StoreFigures};
use crate::text::{line, row};
use crate::words::{RatioWords, beneath_words, comparison_name, grouped, reached_word};

pub(crate) fn ratios_text(text: &mut String, ratios: &[RatioReport]) {
    line(
        text,
        "against the bare listener: median (min to max) of interleaved pairs",
    );
    for ratio in ratios {
        let RatioWords { rate, cpu } = RatioWords::of(ratio);
        let wanted_cpu = ratio
            .goal
            .cpu_max
            .map_or(String::new(), |most| format!(", CPU at most {most:.2}"));
        let reached = reached_word(ratio.reached);
        row(
            text,
            comparison_name(ratio.comparison),
            &format!("rate × {rate}, CPU a request × {cpu}"),
        );
        row(
            text,
            "",
            &format!(
                "wanted: rate at least {:.2}{wanted_cpu}: {reached}",
                ratio.goal.rate_min
            ),
        );
        let (pairs, requests) = (ratio.pairs.len(), grouped(ratio.requests as f64));
        row(
            text,
            "",
            &format!(
                "{pairs} pairs of {requests} requests, {} connections; {}",
                ratio.connections,
                beneath_words(ratio)
            ),
        );
        if ratio.comparison.is_refusal()
            && let Some(store) = &ratio.store
        {
            row(text, "", &commands_words(store));
        }
    }
}

/// How many commands the store saw for refusals, which should be none of theirs.
fn commands_words(store: &StoreFigures) -> String {
    let above_idle = store.commands_per_1000_above_idle();
    format!(
        "Redis commands for 1,000 refusals: {:.2}, without what an idle product asks ({:.0} a second) {above_idle:.2}; wanted: at most \
         {COMMANDS_PER_1000_MAX:.0}: {}",
        store.commands_per_1000(),
        store.idle_commands_per_s,
        reached_word(above_idle <= COMMANDS_PER_1000_MAX)
    )
}
