//! `seckill plan`: how many nodes and stores a crowd needs.

mod rounded;

use seckill_bench::plan::{Crowd, Figures, Plan, plan};
use serde_json::{Value, json};

use super::Context;
use crate::cli::PlanArgs;
use crate::exit::{Failure, Outcome};
use crate::logging::print;

pub(super) fn run(context: &Context, args: &PlanArgs) -> Outcome {
    let figures = Figures {
        node_requests_per_s: args.node_rate,
        store_claims_per_s: args.store_rate,
        orders_per_s: args.order_rate,
    };
    let plan = plan(crowd(args), figures).map_err(Failure::usage)?;
    print(&if context.json {
        document(&plan)?.to_string()
    } else {
        lines(args, &plan).join("\n")
    })
}

/// The crowd, with the usual rush of ten times the average, but none that would need more clicks than there are: a rush lasts a second
/// at least, or as long as a sale that is shorter.
fn crowd(args: &PlanArgs) -> Crowd {
    let usual = Crowd::usual(args.users, args.clicks, args.seconds);
    Crowd {
        head_seconds: args.head_seconds,
        peak_factor: usual.peak_factor.min(args.seconds.max(1.0)),
        units: args.units,
        ..usual
    }
}

/// How long the peak lasts: until all clicks are made, and never longer than the rush.
fn peak_seconds(plan: &Plan) -> f64 {
    plan.head_requests / plan.peak_per_s
}

fn document(plan: &Plan) -> Result<Value, Failure> {
    let mut document = serde_json::to_value(plan).map_err(Failure::failed)?;
    document["peak_seconds"] = json!(peak_seconds(plan));
    rounded::round(&mut document);
    if is_beyond_one_process(plan) {
        document["note"] = json!(BEYOND);
    }
    Ok(document)
}

/// What a plan with several nodes means.
const BEYOND: &str = "this crowd is beyond one process with its own store: several share a Redis (store.url) and a database server \
    (database.url), and a cluster spreads a sale of several shards; or lower the rate that is let in (switch admit_ratio)";

const fn is_beyond_one_process(plan: &Plan) -> bool {
    1 < plan.nodes || 1 < plan.stores
}

fn lines(args: &PlanArgs, plan: &Plan) -> Vec<String> {
    let row = |name: &str, figure: String, unit: &str| format!("{name:<22}{figure:>12} {unit}").trim_end().to_owned();
    let mut lines = vec![
        row("requests in all", format!("{:.0}", plan.requests_total), ""),
        row("average", format!("{:.0}", plan.average_per_s), "/s"),
        // Rounded down, so that the two figures never multiply to more clicks than there are.
        row("peak", format!("{:.0}", down(plan.peak_per_s, 1.0)), "/s"),
        row(
            "the peak lasts",
            format!("{:.1}", down(peak_seconds(plan), 10.0)),
            "s at most",
        ),
        row("peak with margin", format!("{:.0}", plan.prepared_per_s), "/s"),
        row("API nodes", plan.nodes.to_string(), ""),
        row("store shards", plan.stores.to_string(), ""),
    ];
    lines.extend(
        plan.orders_written_in_s
            .map(|seconds| row("orders written within", format!("{seconds:.1}"), "s")),
    );
    lines.push(format!(
        "from {} requests/s a node, {} claims/s a store, {} orders/s: measure yours with `seckill bench`",
        args.node_rate, args.store_rate, args.order_rate
    ));
    if is_beyond_one_process(plan) {
        lines.push(format!("note: {BEYOND}"));
    }
    lines
}

/// Rounded down to so many parts of one; a hair below a whole part is that part, as a division's rounding error is no figure.
fn down(figure: f64, parts: f64) -> f64 {
    (figure * parts * (1.0 + 1e-12)).floor() / parts
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn asked(arguments: &str) -> (PlanArgs, Plan) {
        let words = ["seckill", "plan"].into_iter().chain(arguments.split(' '));
        let Command::Plan(args) = Cli::try_parse_from(words).expect("sound").command else {
            panic!("not a plan")
        };
        let figures = Figures {
            node_requests_per_s: 25_000.0,
            store_claims_per_s: 50_000.0,
            orders_per_s: 20_000.0,
        };
        let plan = plan(crowd(&args), figures).expect("sound");
        (args, plan)
    }

    /// Average and peak a second, and how long the peak lasts.
    fn check(arguments: &str, expect: [f64; 3]) {
        let (_, plan) = asked(arguments);
        let figures = [plan.average_per_s, plan.peak_per_s, peak_seconds(&plan)];
        let near = figures
            .iter()
            .zip(expect)
            .all(|(is, wanted)| (is - wanted).abs() < wanted * 1e-4);
        assert!(near, "{arguments}: {figures:?} is not {expect:?}");
    }

    #[test]
    fn the_classic_minute_peaks_at_ten_times_its_average_for_six_seconds() {
        check("--users 100000 --clicks 5 --seconds 60", [8_333.333, 83_333.333, 6.0]);
    }

    #[test]
    fn a_sale_of_ten_seconds_and_less_is_one_rush_of_a_second() {
        check("--users 1000 --clicks 5 --seconds 10", [500.0, 5_000.0, 1.0]);
        check("--users 1000 --clicks 5 --seconds 5", [1_000.0, 5_000.0, 1.0]);
        check("--users 1000 --clicks 5 --seconds 1", [5_000.0, 5_000.0, 1.0]);
        check("--users 1000 --clicks 5 --seconds 0.5", [10_000.0, 10_000.0, 0.5]);
    }

    #[test]
    fn a_head_that_somebody_named_is_taken_at_his_word() {
        check(
            "--users 1000 --clicks 5 --seconds 60 --head-seconds 2",
            [83.333, 2_500.0, 2.0],
        );
        check(
            "--users 1000 --clicks 5 --seconds 60 --head-seconds 0.5",
            [83.333, 10_000.0, 0.5],
        );
    }

    #[test]
    fn the_peak_over_its_time_never_takes_more_clicks_than_there_are() {
        for users in [1, 7, 1_000, 99_999] {
            for seconds in ["0.3", "1", "3", "9.9", "10", "11", "60", "3600"] {
                for head in ["0.2", "1", "7", "10", "100"] {
                    let (args, plan) = asked(&format!("--users {users} --seconds {seconds} --head-seconds {head}"));
                    let clicks = plan.requests_total * (1.0 + 1e-9);
                    assert!(plan.peak_per_s * peak_seconds(&plan) <= clicks, "{plan:?}");
                    let shown = down(plan.peak_per_s, 1.0) * down(peak_seconds(&plan), 10.0);
                    assert!(shown <= clicks, "{:?}", lines(&args, &plan));
                    assert!(plan.average_per_s <= plan.peak_per_s * (1.0 + 1e-9), "{plan:?}");
                }
            }
        }
    }

    #[test]
    fn the_document_says_how_long_the_peak_lasts() {
        let (_, plan) = asked("--users 100 --clicks 1 --seconds 5");
        let document = document(&plan).unwrap();
        assert_eq!(
            (&document["peak_per_s"], &document["peak_seconds"]),
            (&json!(100.0), &json!(1.0))
        );
    }

    #[test]
    fn a_plan_beyond_one_process_says_so() {
        let said = |arguments| {
            let (args, plan) = asked(arguments);
            lines(&args, &plan).join("\n")
        };
        assert!(said("--users 100000 --clicks 5 --seconds 60").contains("beyond one process"));
        assert!(!said("--users 100 --clicks 1 --seconds 60").contains("beyond one process"));
    }

    #[test]
    fn the_document_has_no_rounding_errors_of_divisions() {
        let (_, plan) = asked("--users 100000 --clicks 5 --seconds 60");
        let document = document(&plan).unwrap();
        assert_eq!(document["peak_seconds"], json!(6.0));
        assert_eq!(document["peak_per_s"], json!(83_333.333_333));
    }
}
