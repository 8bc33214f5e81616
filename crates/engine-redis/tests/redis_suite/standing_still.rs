//! A master of a cluster that stands still, and whose place nobody takes: the sales of others are settled meanwhile.

use std::time::Duration;

use futures_util::FutureExt as _;
use seckill_engine_redis::{Engine, Options};
use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{ActivityId, Conclusion, Delivery, Ticket};
use seckill_stock::Stock;
use seckill_stock::conformance::Fixture;
use seckill_testkit::{Redis, RedisCluster};

use crate::sale::{buy_of, key_of, open_sale};
use crate::sold_out::wait_until;
use crate::support::{Running, brisk};

/// Which server has the list of sales.
const LIST: &str = "{seckill}:sales";
/// Which server has the number of the newest settled batch.
const ACKNOWLEDGED: &str = "{seckill}:acknowledged";
const MASTERS: usize = 3;

struct Set {
    cluster: RedisCluster,
    running: Running,
    /// One on each master.
    sales: [ActivityId; MASTERS],
}

impl Set {
    fn start() -> Self {
        let set = Self::without_sales();
        set.open_sales();
        set
    }

    fn without_sales() -> Self {
        let cluster = RedisCluster::start_patient();
        let options = brisk(cluster.url(), "brisk");
        let running = Running::on(Redis::at(cluster.servers[0].address()), options, None);
        let sales = [0, 1, 2].map(|place| {
            let mut all = (7..).map(|id| ActivityId::new(id).expect("in range"));
            let found = all.find(|sale| cluster.owner(&key_of(*sale, "meta")) == Some(place));
            found.expect("a third of them")
        });
        Self {
            cluster,
            running,
            sales,
        }
    }

    fn open_sales(&self) {
        self.sales.iter().for_each(|sale| open_sale(&self.running, *sale, 10));
    }

    fn buys(&self, sale: ActivityId) -> Ticket {
        buy_of(&self.running, sale, "a").expect("admitted").ticket
    }

    fn take(&self) -> Result<Vec<Ticket>, seckill_queue::Error> {
        let taken = self.running.block_on(self.running.engine.take(10))?;
        Ok(taken.iter().map(|Delivery { ticket, .. }| *ticket).collect())
    }
}

#[test]
fn tickets_of_other_servers_are_taken_while_those_that_wait_longest_cannot_be() {
    let set = Set::start();
    let [still, second, third] = set.sales.map(|sale| set.buys(sale));
    set.cluster.servers[0].pause();
    assert_eq!(set.take(), Ok(vec![second]));
    assert_eq!(set.take(), Ok(vec![third]));
    // Nobody is sent to a server that does not answer.
    let is_ready = set
        .running
        .block_on(async { set.running.engine.ready().now_or_never() });
    assert_eq!(is_ready, None);
    set.cluster.servers[0].resume();
    let mut taken = Vec::new();
    wait_until("it is taken from again", || {
        taken.extend(set.take().unwrap_or_default());
        !taken.is_empty()
    });
    assert_eq!(taken, [still]);
}

#[test]
fn verdicts_count_while_the_server_stands_still_that_is_told_their_batch() {
    let set = Set::start();
    let engine = &set.running.engine;
    let home = set.cluster.owner(ACKNOWLEDGED).expect("a master");
    let ticket = set.buys(set.sales[(home + 1) % MASTERS]);
    assert_eq!(set.take(), Ok(vec![ticket]));
    set.cluster.servers[home].pause();
    // From then on it is known, and nothing is sent that it would do once it goes on.
    buy_of(&set.running, set.sales[home], "b").expect_err("it does not answer");
    let verdicts = Verdicts {
        tickets: vec![(ticket, Verdict::Conclude(Conclusion::Succeeded))],
        settled_batch: 9,
    };
    assert_eq!(set.running.block_on(engine.record(verdicts)), Ok(()));
    assert_eq!(engine.depth().tickets, 0);
    set.cluster.servers[home].resume();
    wait_until("its batch is told", || {
        set.running.block_on(engine.acknowledged_batch()) == Ok(9)
    });
}

#[test]
fn tickets_of_sales_that_the_ledger_has_are_taken_while_the_server_stands_still_that_lists_them() {
    let set = Set::without_sales();
    // A worker that learns of sales by the list alone, and has not read it since there are any.
    let options = Options {
        refresh_every: Duration::from_secs(3_600),
        ..brisk(set.cluster.url(), "worker")
    };
    let worker = set.running.block_on(Engine::connect(options)).expect("connected");
    set.open_sales();
    let home = set.cluster.owner(LIST).expect("a master");
    let sale = set.sales[(home + 1) % MASTERS];
    let ticket = set.buys(sale);
    set.cluster.servers[home].pause();
    worker.set_created([(sale, Fixture::CREATED)].into());
    let taken = set.running.block_on(worker.take(10)).expect("taken");
    assert_eq!(taken.iter().map(|taken| taken.ticket).collect::<Vec<_>>(), [ticket]);
}
