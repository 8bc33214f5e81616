//! Walks over the entries of a hash, a step a call.
//!
//! A cursor of HSCAN means something in one life of one server alone. Where the server started anew under a walk, or another took its place,
//! the walk begins anew: going on, it would miss entries and not know.

use redis::FromRedisValue as _;

use crate::Error;
use crate::script::WALK;
use crate::shared::Shared;

type Bytes = Vec<u8>;

/// Where a walk stands.
#[derive(Debug, Clone)]
pub(crate) struct Walk {
    key: String,
    cursor: u64,
    /// The life of the server that the cursor is of.
    life: String,
}

/// What one step found.
pub(crate) struct Step {
    /// The walk begins with it, perhaps anew: it tells everybody again.
    pub(crate) is_first: bool,
    pub(crate) is_last: bool,
    /// Fields and values.
    pub(crate) pairs: Vec<(Bytes, Bytes)>,
}

impl Walk {
    pub(crate) const fn over(key: String) -> Self {
        Self {
            key,
            cursor: 0,
            life: String::new(),
        }
    }
}

impl Shared {
    /// As HSCAN does, a walk tells every entry that is there from its first step to its last, and may tell one twice.
    pub(crate) async fn walk_on(&self, walk: &mut Walk, count: usize) -> Result<Step, Error> {
        let keys = [walk.key.clone()];
        loop {
            let arguments = [walk.cursor.to_string(), count.to_string()].map(String::into_bytes);
            let answer = self.link.script(&WALK, &keys, &arguments).await?;
            let read = <(String, u64, Vec<(Bytes, Bytes)>)>::from_redis_value(answer);
            let (life, next, pairs) = read.map_err(|_| Error::OutcomeUnknown)?;
            let is_first = walk.cursor == 0;
            if !is_first && life != walk.life {
                tracing::warn!(
                    key = walk.key,
                    "the server started anew under a walk over a hash; the walk begins anew"
                );
                walk.cursor = 0;
                continue;
            }
            (walk.cursor, walk.life) = (next, life);
            return Ok(Step {
                is_first,
                is_last: next == 0,
                pairs,
            });
        }
    }
}
