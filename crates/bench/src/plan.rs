//! Capacity before a sale: how fast the crowd comes, and how many nodes and stores that takes. Arithmetic only; the figures that it
//! divides by come from measurements.

use serde::Serialize;

use crate::{Error, Result};

/// What one machine was measured to do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figures {
    /// Requests a second that one API node answers.
    pub node_requests_per_s: f64,
    /// Claims a second that one store shard decides.
    pub store_claims_per_s: f64,
    /// Orders a second that the database writes.
    pub orders_per_s: f64,
}

/// The crowd that is expected.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Crowd {
    /// People who take part.
    pub users: u64,
    /// How often each of them presses the button.
    pub clicks_per_user: f64,
    /// How long the sale is busy.
    pub seconds: f64,
    /// How long the rush at its beginning lasts.
    pub head_seconds: f64,
    /// The rush over the average: 10 is the usual guess.
    pub peak_factor: f64,
    /// What is kept free above the peak: 0.5 is half as much again.
    pub margin: f64,
    /// Units on sale, where known: they decide how long the orders take.
    pub units: Option<u64>,
}

impl Crowd {
    /// The usual assumptions: a rush of ten times the average in the first ten seconds, half of it kept free.
    pub fn usual(users: u64, clicks_per_user: f64, seconds: f64) -> Self {
        Self {
            users,
            clicks_per_user,
            seconds,
            head_seconds: 10.0,
            peak_factor: 10.0,
            margin: 0.5,
            units: None,
        }
    }
}

/// What the crowd takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Plan {
    /// The crowd that was asked about.
    pub crowd: Crowd,
    /// The figures that were divided by.
    pub figures: Figures,
    /// Clicks in all.
    pub requests_total: f64,
    /// Spread over the whole time.
    pub average_per_s: f64,
    /// In the head: the factor times the average, and never less than everybody within the head.
    pub peak_per_s: f64,
    /// The peak with its margin: what to prepare.
    pub prepared_per_s: f64,
    /// Requests that reach the nodes during the head at the peak; never more than there are.
    pub head_requests: f64,
    /// API nodes for the prepared rate.
    pub nodes: u64,
    /// Store shards, should every prepared request need a claim (the worst case: before the sell-out is known, all do).
    pub stores: u64,
    /// How long the database writes the orders behind the sale, where the units are known.
    pub orders_written_in_s: Option<f64>,
}

/// Estimates the capacity for a crowd.
///
/// # Errors
/// [`Error::Usage`] when a figure is not above zero (the margin may be zero) or not finite.
pub fn plan(crowd: Crowd, figures: Figures) -> Result<Plan> {
    let named = [
        ("users", crowd.users as f64),
        ("clicks", crowd.clicks_per_user),
        ("seconds", crowd.seconds),
        ("head seconds", crowd.head_seconds),
        ("peak factor", crowd.peak_factor),
        ("requests a second and node", figures.node_requests_per_s),
        ("claims a second and store", figures.store_claims_per_s),
        ("orders a second", figures.orders_per_s),
    ];
    for (name, value) in named {
        if !value.is_finite() || value <= 0.0 {
            return Err(Error::Usage(format!("plan: {name} must be above 0, got {value}")));
        }
    }
    if !crowd.margin.is_finite() || crowd.margin < 0.0 {
        return Err(Error::Usage(format!(
            "plan: the margin must not be below 0, got {}",
            crowd.margin
        )));
    }
    let requests_total = crowd.users as f64 * crowd.clicks_per_user;
    let average_per_s = requests_total / crowd.seconds;
    let peak_per_s = (average_per_s * crowd.peak_factor).max(requests_total / crowd.head_seconds.min(crowd.seconds));
    let prepared_per_s = peak_per_s * (1.0 + crowd.margin);
    Ok(Plan {
        crowd,
        figures,
        requests_total,
        average_per_s,
        peak_per_s,
        prepared_per_s,
        head_requests: (peak_per_s * crowd.head_seconds).min(requests_total),
        nodes: whole(prepared_per_s / figures.node_requests_per_s),
        stores: whole(prepared_per_s / figures.store_claims_per_s),
        orders_written_in_s: crowd.units.map(|units| units as f64 / figures.orders_per_s),
    })
}

/// At least one, rounded up; a hair above a whole number is that number, as the division's rounding error is not a machine.
fn whole(count: f64) -> u64 {
    ((count - 1e-9).ceil() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURES: Figures = Figures {
        node_requests_per_s: 25_000.0,
        store_claims_per_s: 50_000.0,
        orders_per_s: 20_000.0,
    };

    #[test]
    fn classic_example_comes_out() {
        let plan = plan(
            Crowd {
                units: Some(10_000),
                ..Crowd::usual(100_000, 5.0, 60.0)
            },
            FIGURES,
        )
        .unwrap();
        assert_eq!(plan.requests_total, 500_000.0);
        assert_eq!(plan.average_per_s, 500_000.0 / 60.0);
        assert_eq!(plan.average_per_s.round(), 8_333.0);
        assert_eq!(plan.peak_per_s.round(), 83_333.0);
        assert_eq!(plan.prepared_per_s.round(), 125_000.0);
        assert_eq!(plan.head_requests, 500_000.0);
        assert_eq!((plan.nodes, plan.stores), (5, 3));
        assert_eq!(plan.orders_written_in_s, Some(0.5));
    }

    #[test]
    fn short_head_raises_the_peak() {
        let plan = plan(
            Crowd {
                head_seconds: 2.0,
                margin: 0.0,
                ..Crowd::usual(100_000, 5.0, 60.0)
            },
            FIGURES,
        )
        .unwrap();
        assert_eq!((plan.peak_per_s, plan.prepared_per_s), (250_000.0, 250_000.0));
    }

    #[test]
    fn long_sale_keeps_its_peak_factor() {
        let plan = plan(Crowd::usual(6_000, 1.0, 600.0), FIGURES).unwrap();
        assert_eq!(
            (plan.average_per_s, plan.peak_per_s, plan.head_requests),
            (10.0, 600.0, 6_000.0)
        );
        assert_eq!((plan.nodes, plan.stores), (1, 1));
    }

    #[test]
    fn whole_machines_are_not_rounded_up_further() {
        assert_eq!(
            (whole(5.0), whole(5.000_000_000_000_1), whole(5.1), whole(0.0)),
            (5, 5, 6, 1)
        );
    }

    #[test]
    fn senseless_figures_are_refused() {
        let sound = Crowd::usual(1, 1.0, 1.0);
        for crowd in [
            Crowd { users: 0, ..sound },
            Crowd {
                clicks_per_user: f64::NAN,
                ..sound
            },
            Crowd { seconds: 0.0, ..sound },
            Crowd { margin: -0.1, ..sound },
        ] {
            assert!(plan(crowd, FIGURES).is_err(), "{crowd:?}");
        }
        assert!(
            plan(
                sound,
                Figures {
                    orders_per_s: 0.0,
                    ..FIGURES
                }
            )
            .is_err()
        );
    }
}
