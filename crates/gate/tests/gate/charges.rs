//! What an address pays before it is known whose a request is.

use http::HeaderMap;
use seckill_gate::{Charge, Gate, Limits, PerLimit, Request, Route, Signature};
use seckill_sale::Refusal;

use crate::support::{SELLING, limit, limited, limited_but, request};

/// One request of each address, and of each network, of reads apart.
fn limits() -> Limits {
    let once = limit("1/min burst 1");
    Limits {
        buy: PerLimit {
            ip: once,
            network: once,
            ..PerLimit::OFF
        },
        read: once,
    }
}

fn charge(gate: &Gate, peer: &str, route: Route) -> Result<Charge, Refusal> {
    gate.charge_address(request(peer, &HeaderMap::new()), route, SELLING)
}

fn is_limited<T>(outcome: &Result<T, Refusal>) -> bool {
    matches!(outcome, Err(Refusal::LimitedByIp { .. }))
}

#[test]
fn a_charge_is_what_a_request_would_count_and_comes_back_whole() {
    for route in [Route::Purchase, Route::Read] {
        let gate = limited(limits());
        for _ in 0..3 {
            let paid = charge(&gate, "1.2.3.4", route).expect("what was paid came back");
            assert!(is_limited(&charge(&gate, "1.2.3.4", route)), "{route:?}");
            gate.refund(paid, SELLING);
        }
        let nobody = HeaderMap::new();
        let counted = match route {
            Route::Purchase => gate.arrive(request("1.2.3.4", &nobody), SELLING).map(drop),
            Route::Read => gate.admit_page(request("1.2.3.4", &nobody), SELLING),
        };
        assert_eq!(counted, Ok(()));
        assert!(is_limited(&charge(&gate, "1.2.3.4", route)), "{route:?}");
    }
}

#[test]
fn an_address_whose_network_is_used_up_pays_nothing() {
    let gate = limited(limits());
    let paid = charge(&gate, "1.2.3.4", Route::Purchase).expect("the first");
    assert!(is_limited(&charge(&gate, "1.2.3.5", Route::Purchase)));
    gate.refund(paid, SELLING);
    assert!(charge(&gate, "1.2.3.5", Route::Purchase).is_ok());
}

#[test]
fn an_exempt_address_pays_nothing() {
    let gate = limited_but("1.2.3.0/24", limits());
    for _ in 0..3 {
        let _kept = charge(&gate, "1.2.3.4", Route::Purchase).expect("it is exempt");
    }
}

#[test]
fn a_bad_signature_that_was_paid_for_is_not_counted_again_and_a_malformed_one_is_counted() {
    let gate = limited(limits());
    let nobody = HeaderMap::new();
    let from = |peer, signature| Request {
        signature: Some(signature),
        ..request(peer, &nobody)
    };
    let bought = |peer, signature| gate.arrive(from(peer, signature), SELLING).map(drop);
    let read = |peer, signature| gate.admit_read(from(peer, signature), SELLING).map(drop);
    let paid = |route| Signature::Bad(charge(&gate, "1.2.3.4", route).expect("the first"));
    let (purchase, poll) = (paid(Route::Purchase), paid(Route::Read));
    for _ in 0..2 {
        assert_eq!(bought("1.2.3.4", &purchase), Ok(()));
        assert_eq!(read("1.2.3.4", &poll), Err(Refusal::Unauthenticated));
    }
    assert_eq!(bought("2.2.2.2", &Signature::Malformed), Ok(()));
    assert_eq!(read("2.2.2.2", &Signature::Malformed), Err(Refusal::Unauthenticated));
    assert!(is_limited(&bought("2.2.2.2", &Signature::Malformed)));
    assert!(is_limited(&read("2.2.2.2", &Signature::Malformed)));
}
