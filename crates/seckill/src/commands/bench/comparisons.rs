//! What `seckill bench` compares the product with: a bare answer, and the articles' algorithm.

use seckill_bench::article::{self, ArticleConfig, ArticleReport};
use seckill_bench::bots::wide_gates;
use seckill_bench::comparison::{Comparison, RatioReport};
use seckill_bench::ratios::{RatioConfig, compare};
use seckill_bench::subject::SubjectConfig;

use super::{fleet, measured, program};
use crate::cli::{BenchArgs, Compared};
use crate::exit::Failure;
use crate::logging::say;

/// Connections for accepted purchases: they share a disk sync, or a call of the store, with those that come at the same time.
const ACCEPTANCE_CONNECTIONS: usize = 256;

/// In pairs, on the services that were named or a process of its own.
pub(super) fn with_bare(args: &BenchArgs) -> Result<Vec<RatioReport>, Failure> {
    let usual = RatioConfig::usual(program()?);
    let product = fleet(args)?.map_or(usual.product.clone(), SubjectConfig::Fleet);
    let config = RatioConfig {
        pairs: args.pairs,
        requests: args.pair_requests,
        product: match args.gates {
            true => product.with(wide_gates()),
            false => product,
        },
        ..usual
    };
    let chosen = |comparison: &Comparison| {
        args.only.is_empty() || args.only.iter().any(|&only| Comparison::from(only) == *comparison)
    };
    let all = Comparison::ALL.into_iter().filter(chosen).map(|comparison| {
        say(&format!(
            "comparing with the bare listener: {comparison}, {} pairs",
            config.pairs
        ));
        let usual = if comparison == Comparison::Acceptances {
            ACCEPTANCE_CONNECTIONS
        } else {
            config.connections
        };
        let config = RatioConfig {
            connections: args.pair_connections.unwrap_or(usual),
            ..config.clone()
        };
        compare(comparison, &config).map_err(measured)
    });
    all.collect()
}

/// In rounds of three, on the services that were named.
pub(super) fn with_article(args: &BenchArgs) -> Result<ArticleReport, Failure> {
    let Some(fleet) = fleet(args)? else {
        return Err(Failure::usage(
            "--baseline naive compares on a Redis that runs already: name it with --store, and a database with --database",
        ));
    };
    let rounds = args.pairs;
    say(&format!(
        "comparing with the articles' algorithm and the bare listener, {rounds} rounds"
    ));
    let config = ArticleConfig {
        rounds,
        requests: args.pair_requests,
        connections: args.pair_connections.unwrap_or(ACCEPTANCE_CONNECTIONS),
        ..ArticleConfig::usual(fleet)
    };
    article::compare(&config).map_err(measured)
}

impl From<Compared> for Comparison {
    fn from(compared: Compared) -> Self {
        match compared {
            Compared::Refusals => Self::Refusals,
            Compared::FirstRefusals => Self::FirstRefusals,
            Compared::Acceptances => Self::Acceptances,
            Compared::ActivityPage => Self::ActivityPage,
            Compared::ResultPoll => Self::ResultPoll,
        }
    }
}
