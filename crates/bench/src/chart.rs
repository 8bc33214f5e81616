//! Charts as SVG text, drawn by hand: a page that is read years later must not need a script from anywhere.

use std::fmt::Write as _;

use crate::outcome::{SLOT_MS, Slot};

/// Columns beyond this are joined.
const COLUMNS_MAX: usize = 120;
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 30.0;
const TOP: f64 = 10.0;

/// One kind of outcome: what it is called, its style class, and how to read it from a column.
type Kind = (&'static str, &'static str, fn(&Slot) -> u64);

/// From the bottom of the stack to its top; what is bad lies on top, where it is seen.
pub(crate) const KINDS: [Kind; 7] = [
    ("accepted", "accepted", |slot| slot.accepted),
    ("sold out", "sold-out", |slot| slot.sold_out),
    ("refused", "refused", |slot| slot.refused),
    ("limited", "limited", |slot| slot.limited),
    ("unavailable", "unavailable", |slot| slot.unavailable),
    ("failed", "failed", |slot| slot.failed),
    ("no answer", "unanswered", |slot| slot.unanswered),
];

/// One line: what it is called, its style class, and its points as (milliseconds, value).
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) class: &'static str,
    pub(crate) points: Vec<(u64, f64)>,
}

/// Stacked columns of outcomes a second over time.
pub(crate) fn outcomes(series: &[Slot]) -> String {
    let joined = series.len().div_ceil(COLUMNS_MAX).max(1);
    let columns: Vec<Slot> = series
        .chunks(joined)
        .map(|slots| {
            let mut column = Slot::default();
            slots.iter().for_each(|slot| column.add(slot));
            column
        })
        .collect();
    let column_s = (joined as u64 * SLOT_MS) as f64 / 1000.0;
    let most = columns.iter().map(Slot::total).max().unwrap_or(0) as f64 / column_s;
    let axes = Axes {
        seconds: columns.len().max(1) as f64 * column_s,
        most: ceiling(most),
    };
    let mut svg = axes.open("Answers a second over time, by outcome");
    for (number, column) in columns.iter().enumerate() {
        let from_s = number as f64 * column_s;
        let mut below = 0.0;
        for (name, class, count) in KINDS {
            let rate = count(column) as f64 / column_s;
            if rate == 0.0 {
                continue;
            }
            let (x, y) = (axes.x(from_s), axes.y(below + rate));
            let (width, height) = ((axes.x(from_s + column_s) - x) * 0.92, axes.y(below) - y);
            put(
                &mut svg,
                format_args!(
                    r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}"><title>{from_s:.1} s: {rate:.0}/s {name}</title></rect>"#
                ),
            );
            below += rate;
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// Lines of running totals over time.
pub(crate) fn lines(title: &str, lines: &[Line]) -> String {
    let points = || lines.iter().flat_map(|line| &line.points);
    let seconds = points().map(|(at_ms, _)| *at_ms).max().unwrap_or(0).max(1) as f64 / 1000.0;
    let most = points().map(|(_, value)| *value).fold(0.0, f64::max);
    let axes = Axes {
        seconds,
        most: ceiling(most),
    };
    let mut svg = axes.open(title);
    for line in lines {
        let mut path = String::new();
        for (at_ms, value) in &line.points {
            put(
                &mut path,
                format_args!("{:.1},{:.1} ", axes.x(*at_ms as f64 / 1000.0), axes.y(*value)),
            );
        }
        let (class, name) = (line.class, line.name);
        put(
            &mut svg,
            format_args!(
                r#"<polyline class="line {class}" points="{}"><title>{name}</title></polyline>"#,
                path.trim_end()
            ),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

struct Axes {
    seconds: f64,
    most: f64,
}

impl Axes {
    fn x(&self, at_s: f64) -> f64 {
        LEFT + (WIDTH - LEFT) * at_s / self.seconds
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / self.most
    }

    /// The opening tag and the grid.
    fn open(&self, title: &str) -> String {
        let mut svg =
            format!(r#"<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}"><title>{title}</title>"#);
        for part in 0..=4 {
            let value = self.most * f64::from(part) / 4.0;
            let (y, label) = (self.y(value), crate::words::grouped(value));
            put(
                &mut svg,
                format_args!(r#"<line class="grid" x1="{LEFT}" x2="{WIDTH}" y1="{y:.1}" y2="{y:.1}"/>"#),
            );
            put(
                &mut svg,
                format_args!(
                    r#"<text x="{:.1}" y="{:.1}" text-anchor="end">{label}</text>"#,
                    LEFT - 8.0,
                    y + 4.0
                ),
            );
        }
        for part in 0..=4 {
            let at_s = self.seconds * f64::from(part) / 4.0;
            let anchor = if part == 4 { "end" } else { "middle" };
            let (x, y) = (self.x(at_s), HEIGHT - 8.0);
            put(
                &mut svg,
                format_args!(r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{at_s:.2} s</text>"#),
            );
        }
        svg
    }
}

/// The next of 1, 2, 4, 8 times a power of ten: four grid lines then have round labels.
fn ceiling(value: f64) -> f64 {
    let power = 10_f64.powf(value.max(4.0).log10().floor());
    [1.0, 2.0, 4.0, 8.0, 10.0]
        .into_iter()
        .map(|step| step * power)
        .find(|step| value <= *step)
        .unwrap_or(10.0 * power)
}

fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).expect("writing to a string can't fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_on_each_other() {
        let series = [
            Slot {
                accepted: 10,
                sold_out: 30,
                ..Slot::default()
            },
            Slot {
                unanswered: 1,
                ..Slot::default()
            },
        ];
        let svg = outcomes(&series);
        assert_eq!(svg.matches("<rect").count(), 3);
        let number = |kind: &str, name: &str| -> f64 {
            let rect = svg.split(&format!("class=\"{kind}\"")).nth(1).unwrap();
            rect.split(&format!(" {name}=\""))
                .nth(1)
                .unwrap()
                .split('"')
                .next()
                .unwrap()
                .parse()
                .unwrap()
        };
        let top_of_lower = number("accepted", "y");
        let bottom_of_upper = number("sold-out", "y") + number("sold-out", "height");
        assert!((top_of_lower - bottom_of_upper).abs() < 0.2, "{svg}");
        assert!(svg.contains("<title>0.0 s: 100/s accepted</title>"), "{svg}");
        assert!(svg.contains("<title>0.1 s: 10/s no answer</title>"), "{svg}");
    }

    #[test]
    fn long_runs_have_joined_columns_and_lose_nothing() {
        let svg = outcomes(&vec![
            Slot {
                accepted: 7,
                ..Slot::default()
            };
            6_000
        ]);
        assert_eq!(svg.matches("<rect").count(), COLUMNS_MAX);
        assert!(svg.contains(": 70/s accepted"), "{svg}");
    }

    #[test]
    fn empty_charts_are_charts() {
        assert!(outcomes(&[]).ends_with("</svg>\n"));
        assert!(!lines("t", &[]).contains("NaN"));
    }

    #[test]
    fn ceilings_are_round() {
        assert_eq!(
            [0.0, 3.0, 10.0, 11.0, 35_000.0, 81_000.0].map(ceiling),
            [1.0, 4.0, 10.0, 20.0, 40_000.0, 100_000.0]
        );
    }
}
