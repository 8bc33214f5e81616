//! The operator shuts the entrance while the database stands still, and other commands wait for it at the same node.

use std::thread;

use seckill_testkit::{Database, PostgresServer};
use serde_json::json;

use crate::shop::{API, SCHEDULER, Shop, WORKER};
use crate::tap::SWITCHES;

const APIS: usize = 2;
/// Commands that wait for the database before the shut comes.
const WAITING: u64 = 3;

#[test]
fn a_shut_is_obeyed_by_every_node_while_others_wait_before_it_for_a_database_that_stands_still() {
    let database = Database::<PostgresServer>::alone(&[]);
    // So long do commands wait for the database: nobody is answered meanwhile.
    let shop = Shop::new(database.url()).setting("SECKILL_STORE__ANSWER_WITHIN", "1m");
    let shop = shop.with(&[API, API, WORKER, SCHEDULER]);
    let apis = &shop.nodes[..APIS];
    let activity = apis[0].sale(1_000_000, &json!({}));
    apis.iter().for_each(|node| node.knows(activity));
    let code = |place: usize, who: &str, number: u64| {
        let answer = apis[place].buy(activity, &format!("{who}-{number}"), "k");
        answer.expect("answers").code()
    };
    let stands_still = database.hold("BEGIN; LOCK TABLE switches IN ACCESS EXCLUSIVE MODE");
    thread::scope(|scope| {
        let patch = |change| apis[0].as_admin("PATCH", SWITCHES, Some(&change)).status;
        let waiting: Vec<_> = (0..WAITING)
            .map(|number| scope.spawn(move || patch(json!({"backlog_max": 100_000 + number}))))
            .collect();
        // Purchases enough for the changes to be on their way; the sale goes on meanwhile.
        assert!((0..100).all(|number| code(number as usize % APIS, "before", number) == 0));
        let shut = scope.spawn(move || patch(json!({"entry_open": false})));
        for (place, node) in apis.iter().enumerate() {
            let mut numbers = 0..;
            let buy = || code(place, &format!("during-{place}"), numbers.next().expect("endless"));
            let _said = node.until(buy, |said| *said == 40_006);
        }
        let answered = waiting.iter().chain([&shut]).filter(|command| command.is_finished());
        assert_eq!(answered.count(), 0, "the shut had its turn");
        drop(stands_still);
        for command in waiting.into_iter().chain([shut]) {
            assert_eq!(command.join().expect("answered"), 200);
        }
    });
    for node in apis {
        let show = || node.as_admin("GET", SWITCHES, None).data().clone();
        let shown = node.until(show, |shown| shown["revision"] == WAITING + 1);
        assert_eq!(
            (&shown["entry_open"], &shown["ledger_pending"]),
            (&json!(false), &json!(false))
        );
    }
    let open = apis[1].as_admin("PATCH", SWITCHES, Some(&json!({"entry_open": true})));
    assert_eq!(
        (open.status, &open.data()["entry_open"]),
        (200, &json!(true)),
        "{open:?}"
    );
    assert_eq!(code(1, "after", 0), 0);
}
