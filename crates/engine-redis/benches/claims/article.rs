//! The articles' algorithm, with its queue in the script, so that no unit is lost between the two: one call a buyer.

use std::sync::atomic::{AtomicUsize, Ordering};

use redis::Script;
use seckill_sale::UserId;

use crate::{Outcome, runtime};

/// The same script that `seckill bench --baseline naive` answers buyers with.
const SCRIPT: &str = include_str!("../../../bench/src/naive.lua");

/// All users buy, `in_flight` at a time. Gives how many were admitted.
pub(crate) fn run(url: &str, pair: usize, users: &[UserId], in_flight: usize) -> Outcome<usize> {
    runtime().block_on(async {
        let connection = redis::Client::open(url)?.get_multiplexed_async_connection().await?;
        let keys = ["stock", "users", "queue"].map(|name| format!("{{naive:{pair}}}:{name}"));
        let mut set = redis::cmd("SET");
        let _set: String = set
            .arg(&keys[0])
            .arg(users.len())
            .query_async(&mut connection.clone())
            .await?;
        let script = Script::new(SCRIPT);
        let (next, admitted) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let buyer = || async {
            let mut connection = connection.clone();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(user) = users.get(number) else {
                    return Ok::<_, redis::RedisError>(());
                };
                let mut call = script.key(&keys);
                call.arg(user.as_str()).arg(format!("request-{number:016x}"));
                let outcome: i64 = call.invoke_async(&mut connection).await?;
                admitted.fetch_add(usize::from(outcome == 1), Ordering::Relaxed);
            }
        };
        futures_util::future::try_join_all((0..in_flight).map(|_| buyer())).await?;
        Ok(admitted.into_inner())
    })
}
