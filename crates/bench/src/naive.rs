//! The articles' algorithm: its script, its keys, and an audit of what it has sold. It is served by a child.

use crate::Result;
use crate::redis_servers::RedisServers;

/// The script.
pub const SCRIPT: &str = include_str!("naive.lua");

/// The keys of a sale, in the script's order.
pub fn keys(sale: u64) -> [String; 3] {
    ["stock", "users", "queue"].map(|name| format!("{{naive:{sale}}}:{name}"))
}

/// What the child that serves it is told: its store, and the secret of its tokens.
pub(crate) fn settings(store: &str, jwt_secret: &str) -> [(String, String); 2] {
    [
        ("SECKILL_STORE__URL".to_owned(), store.to_owned()),
        ("SECKILL_AUTH__JWT_SECRET".to_owned(), jwt_secret.to_owned()),
    ]
}

/// A sale of `units` in the store.
pub(crate) fn open_sale(servers: &mut RedisServers, sale: u64, units: usize) -> Result<()> {
    let [stock, ..] = keys(sale);
    servers.ask::<String>(&["SET", &stock, &units.to_string()]).map(drop)
}

/// What is wrong with a sale of which `accepted` units were sold of `units`; its keys go.
pub(crate) fn close_sale(servers: &mut RedisServers, sale: u64, units: u64, accepted: u64) -> Result<Vec<String>> {
    let [stock, users, queue] = keys(sale);
    let left: i64 = servers.ask(&["GET", &stock])?;
    let bought: u64 = servers.ask(&["SCARD", &users])?;
    let queued: u64 = servers.ask(&["XLEN", &queue])?;
    let _removed: u64 = servers.ask(&["UNLINK", &stock, &users, &queue])?;
    let mut faults = Vec::new();
    for (what, is, should) in [
        ("units left", left, (units - accepted).cast_signed()),
        ("users who have bought", bought.cast_signed(), accepted.cast_signed()),
        ("entries in the queue", queued.cast_signed(), accepted.cast_signed()),
    ] {
        if is != should {
            faults.push(format!("the articles' algorithm: {is} {what}, {should} should be"));
        }
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use redis::Script;
    use seckill_testkit::Redis;

    use super::*;

    #[test]
    fn its_script_sells_each_unit_once_and_its_audit_finds_one_that_is_lost() {
        let redis = Redis::start();
        let mut servers = RedisServers::connect(&redis.url()).unwrap();
        let mut connection = redis::Client::open(redis.url()).unwrap().get_connection().unwrap();
        let mut buy = |sale, user: &str| -> i64 {
            let script = Script::new(SCRIPT);
            let mut call = script.key(&keys(sale)[..]);
            call.arg(user).arg("r").invoke(&mut connection).unwrap()
        };
        open_sale(&mut servers, 7, 2).unwrap();
        let answers = ["a", "a", "b", "c"].map(|user| buy(7, user));
        assert_eq!(answers, [1, -1, 1, 0]);
        assert_eq!(close_sale(&mut servers, 7, 2, 2).unwrap(), [] as [&str; 0]);
        open_sale(&mut servers, 8, 2).unwrap();
        assert_eq!(buy(8, "a"), 1);
        let _lost: u64 = servers.ask(&["DEL", &keys(8)[2]]).unwrap();
        assert_eq!(
            close_sale(&mut servers, 8, 2, 1).unwrap(),
            ["the articles' algorithm: 0 entries in the queue, 1 should be"]
        );
    }
}
