//! Tests of the load loops against a stub server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::jobs::Jobs;
use crate::load::{Load, Pace, run};
use crate::testing::Stub;
use crate::token::{Signer, UserIds};

fn load(stub: &Stub, requests: usize) -> Load {
    let signer = Signer::new(b"secret", 1);
    let jobs = Jobs::purchases(stub.address, 1, requests, &signer, &mut UserIds::seeded(1));
    Load {
        connections: 4,
        ..Load::once_each(stub.address, Arc::new(jobs))
    }
}

fn ticket(number: usize) -> crate::testing::Bytes {
    Stub::json(202, &format!(r#"{{"code":0,"data":{{"ticket":"t{number}"}}}}"#))
}

#[test]
fn closed_loop_sends_every_job_once() {
    let stub = Stub::answering(|_, number| match number {
        0..10 => ticket(number).into(),
        10..40 => Stub::json(410, r#"{"code":40005}"#).into(),
        40..42 => Stub::closing(503, r#"{"code":50300}"#).into(),
        42..45 => Stub::closing(503, r#"{"code":50302}"#).into(),
        _ => Stub::hang_up(),
    });
    let report = run(&Load {
        threads: 2,
        ..load(&stub, 50)
    })
    .unwrap();
    assert_eq!((report.requests, report.accepted, report.winners.len()), (50, 10, 10));
    assert_eq!(
        (
            report.with_status(410),
            report.server_errors(),
            report.unanswered_total()
        ),
        (30, 3, 5),
        "what refuses in an orderly way is no error"
    );
    assert_eq!(report.series.iter().map(crate::outcome::Slot::total).sum::<u64>(), 50);
}

#[test]
fn jobs_are_repeated_when_more_requests_are_wanted() {
    let stub = Stub::answering(|request, _| {
        assert!(request.starts_with("GET /page "));
        Stub::json(200, "{}").into()
    });
    let page = Load {
        requests: 25,
        connections: 3,
        ..Load::once_each(stub.address, Arc::new(Jobs::page(stub.address, "/page")))
    };
    assert_eq!(run(&page).unwrap().accepted, 25);
}

#[test]
fn what_is_not_sent_within_its_time_is_not_sent_at_all() {
    let steady = Pace::Steady { rate_per_s: 100.0 };
    let hour = Duration::from_secs(3600);
    // One every 10 ms: five of them are meant for the first 50.
    for (pace, within, sent) in [
        (Pace::Closed, Duration::ZERO, 0..=0),
        (steady, Duration::ZERO, 0..=0),
        (steady, Duration::from_millis(50), 0..=5),
        (Pace::Closed, hour, 20..=20),
        (steady, hour, 20..=20),
    ] {
        let stub = Stub::answering(|_, number| ticket(number).into());
        let cut = Load {
            pace,
            within: Some(within),
            ..load(&stub, 20)
        };
        let report = run(&cut).unwrap();
        assert!(sent.contains(&report.requests), "{pace:?}: {}", report.requests);
        assert_eq!(report.unanswered_total(), 0);
    }
}

#[test]
fn open_loop_counts_a_stall_from_the_intended_start() {
    // One connection, 200 requests meant for 1 ms each. The server stalls once for 400 ms: a hundred and more requests should have
    // been sent meanwhile, so half of all latencies carry a part of the stall, while only one exchange took long.
    let stall = Duration::from_millis(400);
    let stub = Stub::answering(move |_, number| {
        if number == 20 {
            std::thread::sleep(stall);
        }
        ticket(number).into()
    });
    let stalled = Load {
        connections: 1,
        pace: Pace::Steady { rate_per_s: 1000.0 },
        ..load(&stub, 200)
    };
    let report = run(&stalled).unwrap();
    assert!(250.0 < report.accepted_latency.p90_ms, "{:?}", report.accepted_latency);
    assert!(
        report.accepted_service.p90_ms < report.accepted_latency.p90_ms,
        "{:?}",
        report.accepted_service
    );
}

#[test]
fn open_loop_keeps_to_its_schedule() {
    let stub = Stub::answering(|_, number| ticket(number).into());
    let report = run(&Load {
        pace: Pace::Steady { rate_per_s: 500.0 },
        ..load(&stub, 100)
    })
    .unwrap();
    assert!(0.198 <= report.duration_s, "{}", report.duration_s);
}

#[test]
fn rush_sends_half_of_the_crowd_in_a_quarter_of_the_time() {
    let stub = Stub::answering(|_, number| ticket(number).into());
    let rush = Load {
        pace: Pace::Rush {
            over: Duration::from_millis(200),
        },
        ..load(&stub, 100)
    };
    let report = run(&rush).unwrap();
    assert_eq!(report.accepted, 100);
    assert!(0.19 <= report.duration_s, "{}", report.duration_s);
}

#[test]
fn progress_reaches_the_total() {
    let stub = Stub::answering(|_, number| ticket(number).into());
    let seen = Arc::new(AtomicU64::new(0));
    let kept = Arc::clone(&seen);
    let progress = Arc::new(move |begun, total| {
        assert_eq!(total, 30);
        kept.store(begun, Ordering::SeqCst);
    });
    run(&Load {
        progress: Some(progress),
        ..load(&stub, 30)
    })
    .unwrap();
    assert_eq!(seen.load(Ordering::SeqCst), 30);
}

#[test]
fn nobody_listening_is_unreachable() {
    let address = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let error = run(&Load {
        threads: 2,
        connections: 2,
        ..Load::once_each(address, Arc::new(Jobs::page(address, "/")))
    })
    .unwrap_err();
    assert!(error.is_unreachable(), "{error}");
}

#[test]
fn senseless_loads_are_refused() {
    let address = "127.0.0.1:9".parse().unwrap();
    let sound = Load::once_each(address, Arc::new(Jobs::page(address, "/")));
    for load in [
        Load {
            requests: 0,
            ..sound.clone()
        },
        Load {
            connections: 0,
            ..sound.clone()
        },
        Load {
            threads: 65,
            ..sound.clone()
        },
        Load {
            pace: Pace::Steady { rate_per_s: 0.0 },
            ..sound.clone()
        },
        Load {
            pace: Pace::Steady { rate_per_s: f64::NAN },
            ..sound
        },
    ] {
        assert!(matches!(run(&load), Err(crate::Error::Usage(_))), "{load:?}");
    }
}
