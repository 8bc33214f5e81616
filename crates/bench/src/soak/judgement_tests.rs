//! What counts as level, and what as growth.

use super::*;

fn holdings(count: u64, holding: impl Fn(u64) -> Holding) -> Vec<Holding> {
    (0..count).map(holding).collect()
}

fn said(holdings: &[Holding]) -> Vec<String> {
    let config = SoakConfig::usual("x");
    growing(&config, holdings, &Trend::of(holdings, 1_000))
}

fn with_rss(count: u64, rss_bytes: impl Fn(u64) -> u64) -> Vec<Holding> {
    holdings(count, |number| Holding {
        rss_bytes: rss_bytes(number),
        ..Holding::default()
    })
}

#[test]
fn slope_and_its_error_are_those_of_the_line_through_the_values() {
    assert_eq!(slope([5.0, 7.0, 9.0].into_iter()), (2.0, 0.0));
    assert_eq!(slope([3.0, 3.0, 3.0].into_iter()), (0.0, 0.0));
    assert_eq!(slope([1.0].into_iter()), (0.0, 0.0));
    // Residuals 1, -2, 1: six over one degree of freedom, over two.
    assert_eq!(slope([1.0, 0.0, 5.0].into_iter()), (2.0, 3.0_f64.sqrt()));
}

#[test]
fn scatter_is_no_growth() {
    let rss = |number: u64| (100 << 20) + (number << 14) + (number % 2) * (200 << 20);
    let trend = Trend::of(&with_rss(1_000, rss), 1);
    assert!(
        RSS_SLOPE_BYTES_MAX < trend.rss_slope_bytes && trend.is_level(),
        "{trend:?}"
    );
    assert!(!Trend::of(&with_rss(1_000, |number| rss(number & !1)), 1).is_level());
}

#[test]
fn only_the_last_half_is_held_against_the_server() {
    assert_eq!(said(&with_rss(1_000, |number| number.min(500) << 20)), [] as [&str; 0]);
    assert_eq!(
        said(&with_rss(1_000, |number| (50 << 20) + (number << 15))),
        ["memory grows by 32.0 KiB a sale (± 0.0), 8.0 are allowed"]
    );
}

#[test]
fn level_is_8_kib_a_sale() {
    let grows = |bytes: u64| with_rss(1_000, move |number| (80 << 20) + number * bytes);
    assert_eq!(said(&grows(8 << 10)), [] as [&str; 0]);
    assert_eq!(said(&grows(9 << 10)).len(), 1);
    let trend = Trend::of(&grows(8 << 10), 1);
    assert!((trend.rss_slope_share - 8192.0 / ((80 << 20) as f64 + 749.5 * 8192.0)).abs() < 1e-9);
}

#[test]
fn soak_that_ends_while_caches_fill_is_not_judged_by_its_slope() {
    assert_eq!(said(&with_rss(999, |number| number << 20)), [] as [&str; 0]);
    assert_eq!(said(&with_rss(1_000, |number| number << 20)).len(), 1);
}

#[test]
fn journal_database_and_descriptors_have_bounds() {
    let journal = holdings(10, |number| Holding {
        journal_bytes: number << 25,
        ..Holding::default()
    });
    assert_eq!(said(&journal), ["the journal grew to 288 MiB"]);
    let database = |order_bytes: u64| {
        holdings(1_000, |number| Holding {
            folder_bytes: (64 << 20) + number * 1_000 * order_bytes,
            journal_bytes: 64 << 20,
            ..Holding::default()
        })
    };
    assert_eq!(said(&database(1_024)), [] as [&str; 0]);
    assert_eq!(said(&database(1_100)), ["the database grows by 1100 bytes an order"]);
    let descriptors = holdings(10, |number| Holding {
        descriptors: if number < 5 { 20 } else { 85 },
        ..Holding::default()
    });
    assert_eq!(said(&descriptors), ["descriptors rose from 20 to 85"]);
}
