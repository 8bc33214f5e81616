//! The page: Prometheus text format 0.0.4. An encoder of its own, because it is smaller than the adapter that a library's
//! registry would need for numbers that live per core.

use std::fmt::Write as _;

/// Media type of the page.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What kind of metric a family is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// A label and its value.
pub(crate) type Pair<'a> = (&'a str, &'a str);

/// The page while it is written.
#[derive(Debug, Default)]
pub(crate) struct Page {
    text: String,
}

impl Page {
    /// Begins a family. Its samples follow; no other family's may come between.
    pub(crate) fn family(&mut self, name: &str, help: &str, kind: Kind) {
        self.text.push_str("# HELP ");
        self.text.push_str(name);
        self.text.push(' ');
        escape(&mut self.text, help, false);
        self.write(format_args!("\n# TYPE {name} {}\n", kind.name()));
    }

    /// A sample with a whole number.
    pub(crate) fn whole(&mut self, name: &str, labels: &[Pair<'_>], value: u64) {
        self.series(name, labels);
        self.write(format_args!(" {value}\n"));
    }

    /// A sample with any number.
    pub(crate) fn real(&mut self, name: &str, labels: &[Pair<'_>], value: f64) {
        self.series(name, labels);
        if value.is_infinite() {
            self.text.push_str(if value > 0.0 { " +Inf\n" } else { " -Inf\n" });
        } else {
            self.write(format_args!(" {value}\n"));
        }
    }

    /// Bytes written so far.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Takes back what was written after `len` bytes.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.text.truncate(len);
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    fn series(&mut self, name: &str, labels: &[Pair<'_>]) {
        self.text.push_str(name);
        for (position, (label, value)) in labels.iter().enumerate() {
            self.text.push(if position == 0 { '{' } else { ',' });
            self.text.push_str(label);
            self.text.push_str("=\"");
            escape(&mut self.text, value, true);
            self.text.push('"');
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
    }

    fn write(&mut self, arguments: std::fmt::Arguments<'_>) {
        self.text
            .write_fmt(arguments)
            .expect("a String takes everything that is written to it");
    }
}

fn escape(text: &mut String, value: &str, quotes: bool) {
    for character in value.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '"' if quotes => text.push_str("\\\""),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_backslashes_and_line_ends_are_escaped() {
        let mut page = Page::default();
        page.family("a", "back\\slash \"quoted\"\nnext", Kind::Gauge);
        page.real("a", &[("l", "x\"y\\z\n"), ("m", "秒杀")], 1.5);
        let expected =
            "# HELP a back\\\\slash \"quoted\"\\nnext\n# TYPE a gauge\na{l=\"x\\\"y\\\\z\\n\",m=\"秒杀\"} 1.5\n";
        assert_eq!(page.into_text(), expected);
    }

    #[test]
    fn numbers_are_written_as_prometheus_reads_them() {
        let mut page = Page::default();
        for value in [0.0, 3.0, 0.0001, 1e21, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            page.real("a", &[], value);
        }
        assert_eq!(
            page.into_text(),
            "a 0\na 3\na 0.0001\na 1000000000000000000000\na +Inf\na -Inf\na NaN\n"
        );
    }
}
