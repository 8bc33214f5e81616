//! Nodes that know of one another through one server, by its clock.

use seckill_sale::InstallationId;
use seckill_stock::members::{Member, Members};

use crate::support::Running;

const AGE_MS_MAX: i64 = 60_000;
const LEASE_MS: i64 = 30_000;

fn member(id: &str) -> Member {
    Member {
        id: id.to_owned(),
        ..Member::default()
    }
}

#[test]
fn nodes_see_each_other_and_one_of_them_has_the_lease() {
    let running = Running::start(None);
    let nodes = [running.another("x"), running.another("y")];
    running.block_on(async {
        for (node, id) in nodes.iter().zip(["x", "y"]) {
            node.beat(member(id)).await.expect("heard");
        }
        for node in &nodes {
            let living = node.members(AGE_MS_MAX).await.expect("the store answers");
            assert_eq!(living.len(), 2);
            assert!(living.iter().all(|living| (0..AGE_MS_MAX).contains(&living.age_ms)));
        }
        let [x, y] = &nodes;
        assert_eq!(x.lease("scheduler", "x", LEASE_MS).await, Ok(true));
        assert_eq!(y.lease("scheduler", "y", LEASE_MS).await, Ok(false));
        assert_eq!(y.holder("scheduler").await, Ok(Some("x".to_owned())));
        x.release("scheduler", "x").await.expect("done");
        assert_eq!(y.lease("scheduler", "y", LEASE_MS).await, Ok(true));
    });
}

#[test]
fn a_server_that_forgot_everything_hears_of_its_nodes_again() {
    let running = Running::start(None);
    let engine = &running.engine;
    running.block_on(async {
        engine.beat(member("a")).await.expect("heard");
        assert_eq!(engine.lease("scheduler", "a", LEASE_MS).await, Ok(true));
        running.flush_all();
        assert_eq!(engine.members(AGE_MS_MAX).await.map(|living| living.len()), Ok(0));
        assert_eq!(engine.holder("scheduler").await, Ok(None));
        engine.beat(member("a")).await.expect("heard");
        assert_eq!(engine.members(AGE_MS_MAX).await.map(|living| living.len()), Ok(1));
        assert_eq!(engine.lease("scheduler", "a", LEASE_MS).await, Ok(true));
    });
}

#[test]
fn a_key_of_another_kind_changes_nothing() {
    let running = Running::start(None);
    let engine = &running.engine;
    running.block_on(async {
        engine.beat(member("a")).await.expect("heard");
        for (key, other) in [("{seckill}:beats", "{seckill}:members"), ("{seckill}:members", "{seckill}:beats")] {
            running.owner(key).command(&["RENAME", key, "{seckill}:kept"]).expect("answers");
            running.owner(key).command(&["SET", key, "text"]).expect("answers");
            assert!(engine.beat(member("b")).await.is_err());
            let count = running.owner(key).command(&["EVAL", "return redis.call('TYPE', KEYS[1]).ok == 'hash' and redis.call('HLEN', KEYS[1]) or redis.call('ZCARD', KEYS[1])", "1", other]);
            assert_eq!(count.expect("answers"), ":1\r\n");
            running.owner(key).command(&["RENAME", "{seckill}:kept", key]).expect("answers");
        }
        engine.beat(member("b")).await.expect("heard");
        assert_eq!(engine.members(AGE_MS_MAX).await.map(|living| living.len()), Ok(2));
    });
}

#[test]
fn a_store_changes_its_name_only_for_who_knows_the_one_it_has() {
    let running = Running::start(None);
    let nodes = [running.another("x"), running.another("y")];
    running.block_on(async {
        let [stale, one, two] = [1, 2, 3].map(|byte| InstallationId([byte; 16]));
        let [x, y] = &nodes;
        assert_eq!(x.tie(stale).await, Ok(stale));
        // Both have read the stale name before either writes.
        assert_eq!(x.retie(stale, one).await, Ok(one));
        assert_eq!(y.retie(stale, two).await, Ok(one));
        assert_eq!(x.installation().await, Ok(Some(one)));
        // Who is refused after all gives the name back.
        assert_eq!(x.retie(one, stale).await, Ok(stale));
        assert_eq!(y.installation().await, Ok(Some(stale)));
    });
}
