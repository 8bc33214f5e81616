//! Ids out of paths, read strictly from the raw text: nothing is percent-decoded, because no id needs it.

use seckill_sale::{ActivityId, OrderNo};

use crate::error::Error;

/// The `n`-th segment of a path, counted from 0 after the leading slash.
pub(crate) fn segment(path: &str, n: usize) -> &str {
    path.split('/').nth(n + 1).unwrap_or("")
}

/// The last segment of a path.
pub(crate) fn last_segment(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or("")
}

/// The activity id of a segment; none where it is a number that no activity can have.
///
/// # Errors
/// [`Error::Malformed`] where it is no decimal 64-bit number.
pub(crate) fn activity_id(segment: &str) -> Result<Option<ActivityId>, Error> {
    let plain = !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = plain && (segment.len() == 1 || !segment.starts_with('0'));
    let number: Option<u64> = segment.parse().ok().filter(|_| canonical);
    let number = number.ok_or(Error::Malformed(
        "the activity id must be a plain decimal number of 64 bits".into(),
    ))?;
    Ok(ActivityId::new(number).ok())
}

/// The sale that a path below `/api/seckill/` names; none of any other.
pub(crate) fn sale(path: &str) -> Option<ActivityId> {
    let below = path.strip_prefix("/api/seckill/")?;
    // Its results and streams stand one below.
    below.split('/').take(2).find_map(|part| activity_id(part).ok()?)
}

/// The order number of a segment.
///
/// # Errors
/// [`Error::NotFound`]: what is no order number is nobody's order.
pub(crate) fn order_no(segment: &str) -> Result<OrderNo, Error> {
    segment.parse().map_err(|_| Error::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activity_ids_are_plain_64_bit_numbers() {
        for bad in [
            "",
            "-1",
            "+1",
            "01",
            "1e3",
            "1%00",
            "%7B1%7D",
            "１",
            "1.0",
            " 1",
            "0x1",
            "18446744073709551616",
            "..",
        ] {
            assert!(activity_id(bad).is_err(), "{bad:?}");
        }
        for unknown in ["0", "9007199254740992", "18446744073709551615"] {
            assert_eq!(activity_id(unknown).ok(), Some(None), "{unknown:?}");
        }
        assert_eq!(activity_id("7").ok().flatten(), ActivityId::new(7).ok());
    }

    #[test]
    fn paths_of_a_sale_name_it() {
        let seven = ActivityId::new(7).ok();
        for path in ["7", "7/token", "result/7", "events/7", "ws/7", "7/8"] {
            assert_eq!(sale(&format!("/api/seckill/{path}")), seven, "{path}");
        }
        for other in [
            "/api/seckill/",
            "/api/seckill/x",
            "/api/seckill/result/x/7",
            "/api/orders/7",
            "/",
        ] {
            assert_eq!(sale(other), None, "{other}");
        }
    }

    #[test]
    fn segments_are_counted_after_the_leading_slash() {
        assert_eq!(segment("/api/orders/S1-1-1/pay", 2), "S1-1-1");
        assert_eq!(segment("/api", 2), "");
        assert_eq!(last_segment("/api/seckill/7"), "7");
    }
}
