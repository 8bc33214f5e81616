//! Reads values out of a scrape of `/metrics`: no more of the text format than that takes.

/// A scrape.
#[derive(Debug, Clone)]
pub struct Metrics(String);

impl Metrics {
    pub(crate) fn of(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The sum of this metric over all its labels; `None` where it has no sample.
    pub fn sum(&self, name: &str) -> Option<f64> {
        let values = self.0.lines().filter_map(|line| {
            let rest = line.strip_prefix(name)?;
            let rest = if rest.starts_with('{') {
                rest.rsplit_once('}')?.1
            } else {
                rest
            };
            rest.strip_prefix(' ')?.split(' ').next()?.parse::<f64>().ok()
        });
        values.fold(None, |sum: Option<f64>, value| Some(sum.unwrap_or(0.0) + value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_summed_over_labels_and_not_over_longer_names() {
        let text = "# TYPE a gauge\na{x=\"1} \"} 2\na{x=\"2\"} 3.5 1700000000\na_more 100\nb 0\n";
        let metrics = Metrics::of(text);
        assert_eq!(
            (metrics.sum("a"), metrics.sum("b"), metrics.sum("c")),
            (Some(5.5), Some(0.0), None)
        );
    }
}
