//! The comparison with the articles' algorithm, in words.

use crate::article::{ArticleReport, BARE_RATE_MIN, NAIVE_RATE_MIN, Round, StoreRun};
use crate::figures::Spread;
use crate::text::{line, row};
use crate::words::{grouped, reached_word, spread_words};

pub(crate) fn article_text(text: &mut String, article: &ArticleReport) {
    let rounds = &article.rounds;
    line(
        text,
        &format!(
            "accepted purchases on Redis with {}, nobody settles: median (min to max) of {} interleaved rounds",
            article.durability,
            rounds.len()
        ),
    );
    let median = |figure: fn(&Round) -> f64| Spread::of(rounds.iter().map(figure)).median;
    let mut say = |name, side: fn(&Round) -> &StoreRun| {
        let of_side = |figure: fn(&StoreRun) -> f64| Spread::of(rounds.iter().map(|round| figure(side(round)))).median;
        let rate = grouped(of_side(|side| side.run.requests_per_s));
        let cpu = of_side(|side| side.run.cpu_us_per_request);
        let store = of_side(|side| side.store_cpu_us);
        row(
            text,
            name,
            &format!("{rate}/s, {cpu:.1} µs CPU a purchase and {store:.1} µs of Redis"),
        );
    };
    say("product", |round| &round.product);
    say("articles' algorithm", |round| &round.naive);
    let (bare, bare_cpu) = (
        median(|round| round.bare.requests_per_s),
        median(|round| round.bare.cpu_us_per_request),
    );
    row(
        text,
        "bare POST",
        &format!("{}/s, {bare_cpu:.1} µs CPU a request", grouped(bare)),
    );
    for (name, rate, wanted) in [
        ("over the algorithm", article.rate_over_naive, NAIVE_RATE_MIN),
        ("over the bare POST", article.rate_over_bare, BARE_RATE_MIN),
    ] {
        let reached = reached_word(wanted <= rate.median);
        row(
            text,
            name,
            &format!("rate × {}; wanted: at least {wanted:.2}: {reached}", spread_words(rate)),
        );
    }
    row(
        text,
        "",
        &format!(
            "CPU a purchase × {} of the algorithm's, of Redis × {}",
            spread_words(article.cpu_over_naive),
            spread_words(article.store_cpu_over_naive)
        ),
    );
    let (requests, connections) = (grouped(article.requests as f64), article.connections);
    row(
        text,
        "",
        &format!("runs of {requests} requests, {connections} connections; both audited after each run"),
    );
}
