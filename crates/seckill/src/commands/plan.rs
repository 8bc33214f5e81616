//! `seckill plan`: how many nodes and stores a crowd needs.

use seckill_bench::plan::{Crowd, Figures, plan};

use super::Context;
use crate::cli::PlanArgs;
use crate::exit::{Failure, Outcome};
use crate::logging::print;

pub(super) fn run(context: &Context, args: &PlanArgs) -> Outcome {
    let crowd = Crowd {
        head_seconds: args.head_seconds,
        units: args.units,
        ..Crowd::usual(args.users, args.clicks, args.seconds)
    };
    let figures = Figures {
        node_requests_per_s: args.node_rate,
        store_claims_per_s: args.store_rate,
        orders_per_s: args.order_rate,
    };
    let plan = plan(crowd, figures).map_err(Failure::usage)?;
    if context.json {
        return print(&serde_json::to_string(&plan).map_err(Failure::failed)?);
    }
    let mut lines = vec![
        format!("requests in all       {:>12.0}", plan.requests_total),
        format!("average               {:>12.0} /s", plan.average_per_s),
        format!(
            "peak (first {:.0} s)     {:>12.0} /s",
            args.head_seconds, plan.peak_per_s
        ),
        format!("with margin           {:>12.0} /s", plan.prepared_per_s),
        format!("API nodes             {:>12}", plan.nodes),
        format!("store shards          {:>12}", plan.stores),
    ];
    lines.extend(
        plan.orders_written_in_s
            .map(|seconds| format!("orders written within {seconds:>12.1} s")),
    );
    lines.push(format!(
        "from {} requests/s a node, {} claims/s a store, {} orders/s: measure yours with `seckill bench`",
        args.node_rate, args.store_rate, args.order_rate
    ));
    print(&lines.join("\n"))
}
