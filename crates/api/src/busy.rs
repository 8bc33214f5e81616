//! What can't be done now and may be asked for again, as it is told to the operator: which layer does not do its part. Buyers hear one
//! sentence for all of it, since to them it is all the same.

use std::fmt;

/// What stands in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Busy {
    /// The database is down, locked, full or read-only.
    Database,
    /// The store can't be reached, or has too much to do.
    Store,
    /// The queue can't be reached.
    Queue,
    /// Something that is no layer, in English.
    Other(&'static str),
}

/// The sentence of 50302 for the operator, in Chinese and English: there is no result that he could poll. Units that are added
/// twice are there twice, so only a key makes it harmless to ask again.
pub(crate) const MAYBE_DONE: [&str; 2] = [
    "可能已执行，也可能未执行；请先查看，或用原来的 Idempotency-Key 重试",
    "It may or may not have been done; look first, or ask again with the same Idempotency-Key",
];

/// The sentence of 50303 for the operator, in Chinese and English.
pub(crate) const STORE_NOT_READY: [&str; 2] = ["库存存储暂时无法写入", "The store cannot take this now"];

impl Busy {
    /// The layer, for programs; none where it is none.
    #[must_use]
    pub const fn layer(self) -> Option<&'static str> {
        match self {
            Self::Database => Some("database"),
            Self::Store => Some("store"),
            Self::Queue => Some("queue"),
            Self::Other(_) => None,
        }
    }

    /// The sentence for the operator, in Chinese and English.
    #[must_use]
    pub const fn message(self) -> &'static [&'static str; 2] {
        match self {
            Self::Database => &[
                "数据库暂时无法使用，未作任何更改",
                "The database cannot be used now; nothing was changed",
            ],
            Self::Store => &[
                "库存存储繁忙或无法连接，未作任何更改",
                "The store is busy or cannot be reached; nothing was changed",
            ],
            Self::Queue => &[
                "队列无法连接，未作任何更改",
                "The queue cannot be reached; nothing was changed",
            ],
            Self::Other(_) => &[
                "现在无法执行，请稍后再试",
                "This cannot be done now, please try again in a moment",
            ],
        }
    }
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other(why) => f.write_str(why),
            layer => f.write_str(layer.message()[1]),
        }
    }
}
