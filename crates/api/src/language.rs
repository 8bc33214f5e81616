//! The language of an answer, from `Accept-Language`: Chinese unless the reader prefers English.

use http::header::ACCEPT_LANGUAGE;
use http::{HeaderMap, HeaderValue};
use seckill_sale::Language;

/// Entries that are looked at, so that a long header costs no more than a short one.
const ENTRIES_MAX: usize = 16;

/// What the request asks for; of equal wishes the earlier one.
pub fn of(headers: &HeaderMap) -> Language {
    told(headers.get(ACCEPT_LANGUAGE))
}

/// What this `Accept-Language` asks for.
pub(crate) fn told(header: Option<&HeaderValue>) -> Language {
    header
        .and_then(|value| value.to_str().ok())
        .map_or(Language::Chinese, preferred)
}

fn preferred(header: &str) -> Language {
    let mut best = (Language::Chinese, 0);
    for entry in header.split(',').take(ENTRIES_MAX) {
        let mut parts = entry.split(';').map(str::trim);
        let language = match parts.next().and_then(|tag| tag.get(..2)) {
            Some(tag) if tag.eq_ignore_ascii_case("en") => Language::English,
            Some(tag) if tag.eq_ignore_ascii_case("zh") => Language::Chinese,
            _ => continue,
        };
        let weight = parts
            .find_map(|part| part.strip_prefix("q="))
            .map_or(1_000, thousandths);
        if best.1 < weight {
            best = (language, weight);
        }
    }
    best.0
}

/// `0.8` is 800; junk is 0.
fn thousandths(text: &str) -> u32 {
    let weight: f32 = text.parse().unwrap_or(0.0);
    (weight.clamp(0.0, 1.0) * 1_000.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reader_s_first_choice_counts_and_chinese_is_the_default() {
        for (header, expect) in [
            ("en", Language::English),
            ("en-US,en;q=0.9,zh;q=0.8", Language::English),
            ("zh-CN,zh;q=0.9,en;q=0.8", Language::Chinese),
            ("en;q=0.1, zh;q=0.2", Language::Chinese),
            ("fr, EN;q=0.5", Language::English),
            ("fr", Language::Chinese),
            ("*", Language::Chinese),
            ("", Language::Chinese),
            ("en;q=junk", Language::Chinese),
            ("中文", Language::Chinese),
        ] {
            assert_eq!(preferred(header), expect, "{header:?}");
        }
    }
}
