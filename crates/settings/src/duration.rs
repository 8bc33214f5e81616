//! Durations as people write them: `"500ms"`, `"15m"`, `"1h30m"`. No spaces, no fractions, no bare numbers: a number without
//! a unit is read as seconds by one person and as milliseconds by the next.

use std::time::Duration;

/// Units from the largest to the smallest, in microseconds.
const UNITS: [(&str, u64); 6] = [
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
];

/// Reads a duration; `None` where the text is not one or would not fit.
#[must_use]
pub fn parse(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut sum: u64 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, tail) = rest.split_at(digits);
        let letters = tail.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, tail) = tail.split_at(letters);
        let (_, micros) = UNITS.iter().find(|(name, _)| *name == unit)?;
        sum = sum.checked_add(number.parse::<u64>().ok()?.checked_mul(*micros)?)?;
        rest = tail;
    }
    Some(Duration::from_micros(sum))
}

/// Writes a duration so that [`parse`] reads it back.
pub(crate) fn format(duration: Duration) -> String {
    let mut rest = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    if rest == 0 {
        return "0s".to_owned();
    }
    let mut text = String::new();
    for (name, micros) in UNITS {
        if rest >= micros {
            text.push_str(&format!("{}{name}", rest / micros));
            rest %= micros;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_their_unit() {
        let check = |text: &str, ms: u64| assert_eq!(parse(text), Some(Duration::from_millis(ms)), "{text}");
        check("500ms", 500);
        check("0s", 0);
        check("90s", 90_000);
        check("15m", 15 * 60_000);
        check("24h", 24 * 3_600_000);
        check("30d", 30 * 86_400_000);
        check("1h30m", 90 * 60_000);
    }

    #[test]
    fn durations_without_unit_or_with_another_sign_are_refused() {
        for text in [
            "",
            "15",
            "m",
            "15 m",
            "-1s",
            "1.5s",
            "1s ",
            "15min",
            "1M",
            "١s",
            "99999999999999999999s",
            "300000000d",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn written_duration_reads_back() {
        for text in ["0s", "500ms", "15m", "1d", "1h30m", "1m15s", "250us"] {
            assert_eq!(format(parse(text).expect("is a duration")), text);
        }
    }
}
