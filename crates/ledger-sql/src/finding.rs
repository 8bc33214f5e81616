//! What node and database differ in without either being wrong by itself: their clocks.

use seckill_sale::Finding;

/// How far the clocks of node and database may lie apart, in milliseconds: nothing is decided by the database's, but logs and rows of both
/// are read side by side, and a node whose clock is wrong admits early or late.
const CLOCKS_APART_MS_MAX: i64 = 1_000;

/// `node` is this node's time just before and just after the database told its own; all in milliseconds since 1970.
pub(crate) fn clock(node: [i64; 2], database: i64) -> Finding {
    let [before, after] = node;
    // Whatever the way took may be on either side of the database's answer.
    let apart = (database - after).max(before - database).max(0);
    if apart <= CLOCKS_APART_MS_MAX {
        return Finding::passed(
            "clock",
            format!("the database's clock is within {CLOCKS_APART_MS_MAX} ms of this node's"),
        );
    }
    let which = if before < database { "ahead of" } else { "behind" };
    Finding::warning(
        "clock",
        format!("the database's clock is {apart} ms {which} this node's; keep both by NTP"),
    )
}

#[cfg(test)]
mod tests {
    use seckill_sale::Severity;

    use super::*;

    #[test]
    fn clocks_may_lie_apart_as_far_as_the_way_was_long_and_a_second() {
        assert_eq!(clock([5_000, 9_000], 10_000).severity, Severity::Passed);
        assert_eq!(clock([5_000, 9_000], 4_001).severity, Severity::Passed);
        let ahead = clock([5_000, 9_000], 10_001);
        assert_eq!(ahead.severity, Severity::Warning);
        assert!(ahead.sentence.contains("1001 ms ahead of"), "{ahead:?}");
        assert!(clock([5_000, 9_000], 3_000).sentence.contains("2000 ms behind"));
    }
}
