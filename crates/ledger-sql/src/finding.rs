//! What an examination of a database finds: for `seckill check`, a line each.

/// How good it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// As it must be.
    Passed,
    /// It works, and somebody should look at it before the sale.
    Warning,
    /// Orders could be lost or doubled, or could not be written.
    Failed,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at: `connection`, `version`, `schema`, `keys`, `collation`, `isolation`, `durability`, `connections`, `clock`, `rows`.
    pub area: &'static str,
    /// How good it is.
    pub verdict: Verdict,
    /// What was found, and where it is not good, what to do.
    pub sentence: String,
}

impl Finding {
    pub(crate) fn new(area: &'static str, verdict: Verdict, sentence: impl Into<String>) -> Self {
        let sentence = sentence.into();
        Self {
            area,
            verdict,
            sentence,
        }
    }
}

/// How far the clocks of node and database may lie apart, in milliseconds: nothing is decided by the database's, but logs and rows of both
/// are read side by side, and a node whose clock is wrong admits early or late.
const CLOCKS_APART_MS_MAX: i64 = 1_000;

/// `node` is this node's time just before and just after the database told its own; all in milliseconds since 1970.
pub(crate) fn clock(node: [i64; 2], database: i64) -> Finding {
    let [before, after] = node;
    // Whatever the way took may be on either side of the database's answer.
    let apart = (database - after).max(before - database).max(0);
    if apart <= CLOCKS_APART_MS_MAX {
        return Finding::new(
            "clock",
            Verdict::Passed,
            format!("the database's clock is within {CLOCKS_APART_MS_MAX} ms of this node's"),
        );
    }
    let which = if before < database { "ahead of" } else { "behind" };
    Finding::new(
        "clock",
        Verdict::Warning,
        format!("the database's clock is {apart} ms {which} this node's; keep both by NTP"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_may_lie_apart_as_far_as_the_way_was_long_and_a_second() {
        assert_eq!(clock([5_000, 9_000], 10_000).verdict, Verdict::Passed);
        assert_eq!(clock([5_000, 9_000], 4_001).verdict, Verdict::Passed);
        let ahead = clock([5_000, 9_000], 10_001);
        assert_eq!(ahead.verdict, Verdict::Warning);
        assert!(ahead.sentence.contains("1001 ms ahead of"), "{ahead:?}");
        assert!(clock([5_000, 9_000], 3_000).sentence.contains("2000 ms behind"));
    }
}
