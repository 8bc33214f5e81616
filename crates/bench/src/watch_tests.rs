//! What a watch sees.

use super::*;

#[test]
fn extremes_and_the_last_order_are_kept() {
    let (mut seen, mut first, begun) = (Seen::default(), None, Instant::now());
    let mut last_written = Vec::new();
    for (written, depth, oldest) in [(5, 0, 0.0), (9, 7, 0.4), (15, 3, 0.2), (15, 0, 0.0)] {
        let text = format!(
            "seckill_orders_written_total {written}\nseckill_queue_depth {depth}\nseckill_queue_oldest_seconds {oldest}\n"
        );
        let metrics = Metrics::of(&text);
        add_look(&mut seen, &metrics, of(&metrics), begun, &mut first);
        last_written.push(seen.last_written);
    }
    assert_eq!((seen.queue_depth_max, seen.oldest_s_max), (Some(7.0), Some(0.4)));
    assert_eq!(
        seen.looks.iter().map(|look| look.orders_written).collect::<Vec<_>>(),
        [0.0, 4.0, 10.0, 10.0]
    );
    assert_eq!(last_written[0], None);
    assert!(last_written[1] < last_written[2] && last_written[2] == last_written[3]);
}

#[test]
fn server_without_the_metrics_leaves_them_unknown() {
    let (mut seen, mut first) = (Seen::default(), None);
    add_look(&mut seen, &Metrics::of("other 1\n"), 0.0, Instant::now(), &mut first);
    assert_eq!((seen.oldest_s_max, seen.last_written), (None, None));
}

#[test]
fn looks_are_dated_from_the_load() {
    let began = Instant::now();
    let look = |at_ms| Look {
        at_ms,
        orders_written: 0.0,
        queue_depth: 0.0,
        oldest_s: 0.0,
    };
    let mut seen = Seen {
        looks: vec![look(10), look(130)],
        began: Some(began),
        ..Seen::default()
    };
    seen.count_from(began + Duration::from_millis(30));
    assert_eq!(seen.looks.iter().map(|look| look.at_ms).collect::<Vec<_>>(), [0, 100]);
}

#[test]
fn watch_of_an_unreachable_server_ends() {
    let address = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let seen = Watch::start(Admin::new(address, "x"), Vec::new())
        .unwrap()
        .finish()
        .unwrap();
    assert!(seen.looks.is_empty());
}
