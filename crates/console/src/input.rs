//! Reads what the operator sent, strictly: texts, numbers and moments within their ranges, each fault named by its field.

use jiff::Timestamp;
use seckill_api::read_object;
use seckill_sale::EpochMs;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer};

use crate::error::Error;

/// Longest name or title, in characters.
pub(crate) const TITLE_LENGTH_MAX: usize = 120;
/// Longest sentence (notice, reason), in characters.
pub(crate) const SENTENCE_LENGTH_MAX: usize = 500;

/// One JSON object and nothing behind it.
///
/// # Errors
/// [`Error::Invalid`] with the path of the member, [`Error::Malformed`] where there is none.
pub(crate) fn object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    read_object(bytes).map_err(Error::from)
}

/// A member that stands there, apart from one that does not: `null` is no way to leave it out.
pub(crate) fn named<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A name or title.
pub(crate) fn title(field: &'static str, text: String) -> Result<String, Error> {
    words(field, text, TITLE_LENGTH_MAX)
}

/// A notice or reason.
pub(crate) fn sentence(field: &'static str, text: String) -> Result<String, Error> {
    words(field, text, SENTENCE_LENGTH_MAX)
}

fn words(field: &'static str, text: String, length_max: usize) -> Result<String, Error> {
    let fine = !text.trim().is_empty() && text.chars().count() <= length_max && !text.chars().any(is_unseen);
    if fine {
        Ok(text)
    } else {
        Err(Error::invalid(
            field,
            format!("must be 1 to {length_max} characters without control characters and marks of direction"),
        ))
    }
}

/// Whether a character steers how others are shown, and shows nothing itself: with these, a title reads otherwise than it is. What joins
/// letters and emoji (U+200C, U+200D) is part of writing and stays.
fn is_unseen(char: char) -> bool {
    // Direction of text: marks, embeddings, overrides, isolates. Then ends of lines, byte order mark, annotations.
    char.is_control()
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(char, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// A number of a bounded type.
pub(crate) fn number<T>(
    field: &'static str,
    value: u64,
    new: impl FnOnce(u64) -> Result<T, seckill_sale::IdError>,
) -> Result<T, Error> {
    new(value).map_err(|error| Error::invalid(field, error.to_string()))
}

/// A decimal number of digits alone: no sign, no spaces, no leading zero.
pub(crate) fn digits(text: &str) -> Option<&str> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = text.len() == 1 || !text.starts_with('0');
    Some(text).filter(|_| plain && canonical)
}

/// First and last moment that is taken: years of four digits, from the beginning of the epoch on.
const MOMENTS_MS: std::ops::Range<i64> = 0..253_402_300_800_000;

/// A moment in RFC 3339 with its offset: a local time without one would be another moment on another server.
pub(crate) fn moment(field: &'static str, text: &str) -> Result<EpochMs, Error> {
    let refused = || {
        let why = "must be a moment of RFC 3339 with its offset, such as 2026-11-11T20:00:00+08:00, from 1970 to 9999";
        Error::invalid(field, why)
    };
    if !is_rfc3339(text.as_bytes()) {
        return Err(refused());
    }
    let moment: Timestamp = text.parse().map_err(|_| refused())?;
    let ms = moment.as_millisecond();
    if MOMENTS_MS.contains(&ms) {
        Ok(EpochMs(ms))
    } else {
        Err(refused())
    }
}

/// The form alone: the library also takes shorter and annotated forms.
fn is_rfc3339(text: &[u8]) -> bool {
    let like = |text: &[u8], form: &[u8]| {
        text.len() == form.len()
            && text.iter().zip(form).all(|(byte, form)| match form {
                b'0' => byte.is_ascii_digit(),
                b'T' => matches!(byte, b'T' | b't'),
                b'+' => matches!(byte, b'+' | b'-'),
                _ => byte == form,
            })
    };
    let Some((local, rest)) = text.split_at_checked(19) else {
        return false;
    };
    let offset = match rest.strip_prefix(b".") {
        None => rest,
        Some(fraction) => {
            let length = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if !(1..=9).contains(&length) {
                return false;
            }
            &fraction[length..]
        }
    };
    // The library takes offsets of more than a day.
    let numeric = like(offset, b"+00:00") && offset[1..3] <= b"23"[..];
    like(local, b"0000-00-00T00:00:00") && (numeric || matches!(offset, b"Z" | b"z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_need_date_time_and_offset() {
        let at = |text: &str| moment("at", text).ok().map(|at| at.0);
        assert_eq!(at("2026-11-11T00:00:00Z"), Some(1_794_355_200_000));
        assert_eq!(at("2026-11-11T08:00:00.125+08:00"), Some(1_794_355_200_125));
        assert_eq!(at("2026-11-10t19:30:00-04:30"), Some(1_794_355_200_000));
        for bad in [
            "",
            "now",
            "2026-11-11",
            "2026-11-11T00:00:00",
            "2026-11-11 00:00:00Z",
            "2026-11-11T00:00Z",
            "2026-11-11T00:00:00+08",
            "2026-11-11T00:00:00+0800",
            "2026-11-11T00:00:00Z[UTC]",
            "2026-02-30T00:00:00Z",
            "2026-11-11T24:00:00Z",
            "2026-11-11T00:00:00.Z",
            "2026-11-11T00:00:00.1234567890Z",
            "1969-12-31T23:59:59Z",
            "+002026-11-11T00:00:00Z",
            "2026-11-11T00:00:00Z ",
            "1794355200000",
            "２026-11-11T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-11-11T00:00:00+25:00",
        ] {
            assert_eq!(at(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn texts_are_not_blank_and_have_no_control_characters() {
        assert_eq!(
            title("name", "<img onerror=1> 手机".to_owned()).unwrap(),
            "<img onerror=1> 手机"
        );
        for bad in ["", "  ", "a\nb", "a\0", "\u{7f}", &"长".repeat(121)] {
            assert!(title("name", (*bad).to_owned()).is_err(), "{bad:?}");
        }
        let steering = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}\u{2028}\u{2029}\u{feff}\u{fff9}";
        for bad in steering.chars() {
            assert!(title("name", format!("9.99{bad}001")).is_err(), "{bad:?}");
        }
        for fine in ["\u{1f468}\u{200d}\u{1f469}", "می\u{200c}خواهم", "שלום"] {
            assert!(title("name", fine.to_owned()).is_ok(), "{fine}");
        }
        assert!(title("name", "长".repeat(120)).is_ok());
    }

    #[test]
    fn numbers_in_paths_and_queries_are_digits_alone() {
        for bad in ["", "-1", "+1", "01", "1e3", " 1", "１", "1%00", "0x1"] {
            assert_eq!(digits(bad), None, "{bad:?}");
        }
        assert_eq!(digits("0"), Some("0"));
    }
}
