//! Shares of what may be under way.

use super::*;

const MOST: usize = 1_000;

fn sale(id: u64) -> ActivityId {
    ActivityId::new(id).expect("in range")
}

/// Those who come until there is no room for one more; gives their number.
fn fill(in_flight: &InFlight, at: Counted) -> usize {
    let mut came = 0;
    while in_flight.has_room(at, MOST, 0) {
        in_flight.enter(at);
        assert!(in_flight.has_room(at, MOST, 1), "whoever has a place keeps it");
        came += 1;
    }
    came
}

#[test]
fn each_sale_leaves_room_for_one_more_whoever_came_first() {
    let in_flight = InFlight::default();
    let shares: Vec<_> = (1..=4)
        .map(|id| fill(&in_flight, in_flight.place(sale(id), |_| true)))
        .collect();
    assert_eq!(shares, [875, 110, 14, 1]);
    assert_eq!(in_flight.all.load(Relaxed), MOST);
}

#[test]
fn sales_that_come_at_the_same_time_have_equal_shares() {
    let in_flight = InFlight::default();
    let places: Vec<_> = (1..=9).map(|id| in_flight.place(sale(id), |_| true)).collect();
    while places.iter().any(|&at| in_flight.has_room(at, MOST, 0)) {
        for &at in places.iter().filter(|&&at| in_flight.has_room(at, MOST, 0)) {
            in_flight.enter(at);
        }
    }
    let shares: Vec<_> = places.iter().map(|&at| in_flight.under_way(at).load(Relaxed)).collect();
    assert!(shares.iter().all(|share| (109..=110).contains(share)), "{shares:?}");
}

#[test]
fn there_are_never_more_than_may_be_and_a_few_are_one_sales() {
    for most in 1..=8 {
        let (in_flight, at) = (InFlight::default(), Some(0));
        for _ in 0..most.min(7) {
            assert!(in_flight.has_room(at, most, 0), "{most}");
            in_flight.enter(at);
        }
        assert!(!in_flight.has_room(at, most, 0), "{most}");
        assert_eq!(in_flight.has_room(Some(1), most, 0), most == 8);
    }
}

#[test]
fn what_is_not_on_sale_shares_one_place_and_leaves_nothing_behind() {
    let in_flight = InFlight::default();
    for id in 1..100_000 {
        assert_eq!(in_flight.place(sale(id), |_| false), None);
    }
    assert!(in_flight.places.iter().all(|place| place.sale.load(Relaxed) == 0));
    assert_eq!(fill(&in_flight, None), 875);
    assert_eq!(fill(&in_flight, in_flight.place(sale(7), |_| true)), 110);
}

#[test]
fn a_sale_that_is_known_is_found_without_asking_and_keeps_its_place_while_somebody_is_at_it() {
    let in_flight = InFlight::default();
    let places: Vec<_> = (1..=PLACES as u64)
        .map(|id| in_flight.place(sale(id), |_| true))
        .collect();
    places.iter().for_each(|&at| in_flight.enter(at));
    for (id, &at) in (1..).zip(&places) {
        let found = in_flight.place(sale(id), |_| unreachable!("asked for {id}"));
        assert_eq!((found, in_flight.under_way(found).load(Relaxed)), (at, 1));
    }
    let many = PLACES as u64;
    let shared = in_flight.place(sale(many + 1), |_| true);
    assert!(places.contains(&shared), "one more than there are places");
    assert_eq!(in_flight.place(sale(1), |_| unreachable!()), places[0]);
    in_flight.leave(places[2]);
    assert_eq!(
        in_flight.place(sale(many + 3), |_| true),
        places[2],
        "one that was left"
    );
}

#[test]
fn all_that_came_is_given_back() {
    let in_flight = InFlight::default();
    let places = [None, Some(3), Some(PLACES - 1)];
    for at in places {
        in_flight.enter(at);
        in_flight.enter(at);
    }
    for at in places {
        in_flight.leave(at);
        in_flight.leave(at);
        assert_eq!(in_flight.under_way(at).load(Relaxed), 0);
    }
    assert_eq!(in_flight.all.load(Relaxed), 0);
}
