//! A sale of several shards that lost a part of itself, or perhaps nothing.

use seckill_sale::ActivityId;
use seckill_stock::{Condition, Stock};

use crate::healing_house::{keys, shards};
use crate::house::{House, run, user};

fn meta(id: ActivityId, shard: usize) -> String {
    format!("{{a:{id}:{shard}}}:meta")
}

/// So many users of one shard.
fn users_of(shard: u64, count: usize) -> Vec<String> {
    let named = (0..).map(|n| format!("v{n}"));
    named
        .filter(|name| shards().of(&user(name)) == shard)
        .take(count)
        .collect()
}

impl House {
    fn set(&self, key: &str, fields: &[&str]) {
        let answer = self.redis(&[&["HSET", key], fields].concat());
        assert!(answer.starts_with(':'), "{answer}");
    }

    /// As after a failover of all servers that lost nothing. From now on the node moves no units: what is on its way stays there.
    fn doubts_all(&self, id: ActivityId) {
        (0..4).for_each(|shard| self.set(&meta(id, shard), &["server", "another"]));
    }

    /// Sells so many, and not one more.
    async fn sells(&self, id: ActivityId, units: u64) {
        for n in 0..units {
            let answer = self.claim(id, &format!("w{n}"), 1).await;
            assert!(answer.is_ok(), "{n} of {units}: {answer:?}");
        }
        assert_eq!(self.claim(id, "late", 1).await, Err(seckill_sale::Refusal::SoldOut));
        self.is_well(id, &["w0"]).await;
        assert_eq!(self.balanced(id).await.stock_left, 0);
    }
}

#[test]
fn units_on_their_way_are_counted_once_where_a_whole_sale_is_confirmed() {
    // What giver and taker know of two units: left, out, last debit; left, credited.
    let noted = ["left", "0", "out", "1 3 2", "transfers", "1"];
    let [untaken, taken] = [["left", "2", "credited", ""], ["left", "4", "credited", "1 0 0 0"]];
    for taker in [untaken, taken] {
        run(async {
            let (house, id) = House::selling(8).await;
            house.doubts_all(id);
            house.set(&meta(id, 0), &noted);
            house.set(&meta(id, 3), &taker);
            let before = |condition| match condition {
                Condition::Doubtful(figures) => (figures.stock_left, figures.revision),
                other => panic!("{other:?}"),
            };
            let (left, _) = before(house.store.condition(id).await.expect("answers"));
            assert_eq!(left, 8);
            house.recovers(id).await;
            let builders = house.redis(&["HGET", &meta(id, 0), "builder"]);
            assert_eq!(house.redis(&["HGET", &meta(id, 3), "builder"]), builders);
            assert!(
                house.redis(&["HGET", &meta(id, 0), "transfers"]).contains("\r\n1\r\n"),
                "not built anew"
            );
            house.sells(id, 8).await;
        });
    }
}

#[test]
fn a_shard_that_forgot_what_it_gave_or_got_is_not_confirmed() {
    // It gave two units that the other has, or it got two that the other gave: it went back to before.
    let gave: &[&[&str]] = &[&[], &["left", "4", "credited", "1 0 0 0"]];
    let got: &[&[&str]] = &[&["left", "0", "transfers", "1"], &[]];
    // Both at once: the sum is right, and the next debit would have a name that was used.
    let both: &[&[&str]] = &[&[], &["left", "4", "credited", "1 0 0 0", "transfers", "2"]];
    for (case, [giver, taker]) in [gave, got, both].map(|case| [case[0], case[1]]).into_iter().enumerate() {
        run(async {
            let (house, id) = House::selling(8).await;
            house.doubts_all(id);
            for (shard, fields) in [(0, giver), (3, taker)] {
                if !fields.is_empty() {
                    house.set(&meta(id, shard), fields);
                }
            }
            if case == 2 {
                house.set(&meta(id, 1), &["left", "0"]);
            }
            let builder = house.redis(&["HGET", &meta(id, 0), "builder"]);
            house.recovers(id).await;
            assert_ne!(house.redis(&["HGET", &meta(id, 0), "builder"]), builder, "built anew");
            assert_eq!(house.left(id).await, 8);
            house.sells(id, 8).await;
        });
    }
}

#[test]
fn a_shard_of_another_server_is_confirmed_beside_sound_ones() {
    run(async {
        let (house, id) = House::selling(8).await;
        house.buy(id, &["a", "b", "c"]).await;
        house.settle().await;
        house.buy(id, &["d"]).await;
        let before = house.figures(id).await;
        house.set(&meta(id, 2), &["server", "another"]);
        house.recovers(id).await;
        let figures = house.figures(id).await;
        assert_eq!(figures.revision, before.revision + 4, "confirmed in place");
        assert!(before.epoch < figures.epoch);
        house.is_well(id, &["a", "b", "c", "d"]).await;
        house.sells(id, 4).await;
    });
}

#[test]
fn a_shard_that_lost_its_newest_tickets_has_them_back_before_strangers_come() {
    run(async {
        let (house, id) = House::selling(8).await;
        let lost = users_of(2, 5);
        let names: Vec<_> = lost.iter().map(String::as_str).collect();
        house.buy(id, &names[..1]).await;
        let shard: Vec<_> = keys(id).into_iter().filter(|key| key.contains(":2}")).collect();
        for key in &shard {
            house.redis(&["COPY", key, &format!("kept:{key}")]);
        }
        // One unit of its own, and three that are brought from others.
        house.buy(id, &names[1..]).await;
        for key in &shard {
            house.redis(&["DEL", key]);
            house.redis(&["RENAME", &format!("kept:{key}"), key]);
        }
        house.set(&meta(id, 2), &["server", "another"]);
        let _read = house.store.activities().await;
        assert_eq!(house.heal(id).await.healed, [id]);
        let early = house.claim(id, "stranger", 1).await;
        assert!(matches!(early, Err(seckill_sale::Refusal::NotReady(_))), "{early:?}");
        house.clock.advance(crate::healing_house::GRACE_MS);
        house.is_well(id, &names).await;
        assert_eq!(house.count_succeeded(id, &names).await, 5);
        house.sells(id, 3).await;
    });
}

#[test]
fn tickets_of_a_lost_state_get_the_units_of_other_shards() {
    run(async {
        let (house, id) = House::selling(4).await;
        let buyers = users_of(3, 4);
        let names: Vec<_> = buyers.iter().map(String::as_str).collect();
        house.buy(id, &names).await;
        house.redis(&["FLUSHALL"]);
        house.recovers(id).await;
        house.is_well(id, &names).await;
        assert_eq!(house.count_succeeded(id, &names).await, 4, "each had a unit");
    });
}
