//! How many rows a page or a sweep reads, as the servers count it: a full scan of a night's orders would show.

use seckill_ledger::conformance::shop;
use seckill_ledger::{OrderFilter, Orders as _, Settlement as _, UnitsOnCancel};
use seckill_ledger_sql::Server;
use seckill_sale::ActivityId;
use seckill_testkit::{Database, Kind};

use crate::faults::{block_on, open};

/// Orders of the large sale; one page of them is [`PAGE`].
const ORDERS: u64 = 12_000;
const PAGE: u32 = 50;

/// What a page, or a sweep of as many orders, may read of orders and records: its rows, some of them in several steps and by several keys.
const ROWS_READ_MAX: u64 = 600;

struct Night<K> {
    database: Database<K>,
    large: ActivityId,
    small: ActivityId,
}

/// A small sale, a large one after it, and a database that knows its tables.
fn night<K: Kind>() -> Night<K> {
    let database = Database::<K>::alone(if is_postgres::<K>() { &[] } else { &["userstat=ON"] });
    let ledger = open(&database.url());
    let (large, small) = block_on(async {
        let small = shop::sold(&ledger, 40, 30).await.id;
        let product = ledger_product(&ledger).await;
        let large = product.id;
        for tickets in shop::deliveries(large, ORDERS).chunks(500) {
            shop::settle(&ledger, large, tickets.to_vec()).await;
        }
        (large, small)
    });
    drop(ledger);
    let _ = database.say(if is_postgres::<K>() {
        "ANALYZE"
    } else {
        "ANALYZE TABLE orders, records"
    });
    Night { database, large, small }
}

async fn ledger_product(ledger: &Server) -> seckill_sale::Activity {
    use seckill_ledger::Catalog as _;
    let mut product = shop::new_product();
    product.stock = shop::stock(ORDERS);
    let product = ledger
        .create_product(product, shop::at(shop::NOW))
        .await
        .expect("a product");
    let activity = shop::new_activity(product.id, ORDERS);
    ledger
        .create_activity(activity, shop::at(shop::NOW))
        .await
        .expect("an activity")
}

fn is_postgres<K: Kind>() -> bool {
    K::NAME == "postgres"
}

impl<K: Kind> Night<K> {
    /// Rows of orders and records that were read since the start, once nobody reads any more.
    fn rows_read(&self) -> u64 {
        let (busy, count) = if is_postgres::<K>() {
            (
                "SELECT 'found ' || count(*) || ' found' FROM pg_stat_activity WHERE application_name = 'seckill'",
                "SELECT 'found ' || (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname IN ('orders', 'records'))
                    + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname IN ('orders', 'records')) || ' found'",
            )
        } else {
            (
                "SELECT concat('found ', count(*) - 1, ' found') FROM information_schema.processlist WHERE user = 'root'",
                "SELECT concat('found ', sum(rows_read), ' found') FROM information_schema.table_statistics
                    WHERE table_name IN ('orders', 'records')",
            )
        };
        let number = |query: &str| -> u64 {
            let said = self.database.say(query);
            let number = said.split_whitespace().skip_while(|word| *word != "found").nth(1);
            number
                .and_then(|number| number.parse().ok())
                .unwrap_or_else(|| panic!("{said}"))
        };
        let gone = (0..1_000).any(|_| number(busy) == 0);
        assert!(gone, "somebody stays connected");
        number(count)
    }

    async fn page(&self, ledger: &Server, activity: Option<ActivityId>, cursor: Option<String>) -> Option<String> {
        let filter = OrderFilter { activity, user: None };
        let page = ledger.orders(filter, shop::page(cursor, PAGE)).await.expect("orders");
        assert!(!page.rows.is_empty());
        page.next
    }

    #[track_caller]
    fn check(&self, what: &str, work: impl AsyncFnOnce(&Server)) {
        let before = self.rows_read();
        let ledger = open(&self.database.url());
        block_on(work(&ledger));
        drop(ledger);
        let read = self.rows_read() - before;
        assert!(0 < read && read < ROWS_READ_MAX, "{what} reads {read} rows");
    }
}

pub fn pages_and_sweeps_read_what_they_show_and_not_the_table<K: Kind>() {
    let night = night::<K>();
    let (large, small) = (night.large, night.small);
    night.check("a page of all orders", async |ledger| {
        let next = night.page(ledger, None, None).await;
        night.page(ledger, None, next).await;
    });
    night.check("a page of a large sale's orders", async |ledger| {
        let next = night.page(ledger, Some(large), None).await;
        night.page(ledger, Some(large), next).await;
    });
    night.check("a page of a small sale's orders behind a large one's", async |ledger| {
        night.page(ledger, Some(small), None).await;
    });
    night.check("a user's orders", async |ledger| {
        let filter = OrderFilter {
            activity: None,
            user: Some(shop::user("u7")),
        };
        let orders = ledger.orders(filter, shop::page(None, PAGE)).await.expect("orders");
        assert_eq!(orders.rows.len(), 2);
    });
    night.check("a page of records, as reconciling reads them", async |ledger| {
        let next = ledger
            .records(large, shop::page(None, PAGE))
            .await
            .expect("records")
            .next;
        let behind = ledger.records(large, shop::page(next, PAGE)).await.expect("records");
        assert_eq!(behind.rows.len(), PAGE as usize);
    });
    night.check("the records of a user and of some users", async |ledger| {
        let record = ledger.record(large, &shop::user("u77")).await.expect("readable");
        assert!(record.is_some());
        let users = (1..=50).map(|number| shop::user(&format!("u{number}"))).collect();
        assert_eq!(ledger.records_of(large, users).await.expect("records").len(), 50);
    });
    night.check("the next deadline", async |ledger| {
        assert_eq!(ledger.next_deadline().await, Ok(Some(shop::DEADLINE)));
    });
    night.check("a sweep of orders that are due", async |ledger| {
        let expired = ledger.expire_due(shop::DEADLINE, PAGE, UnitsOnCancel::Product).await;
        assert_eq!(expired.expect("is done").orders, u64::from(PAGE));
    });
}
