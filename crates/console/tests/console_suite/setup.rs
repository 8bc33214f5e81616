//! The parts of a house that have settings.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use seckill_api::Readiness;
use seckill_console::{AdminToken, Check, Console, Live, Parts, Settings};
use seckill_flow::{Layers, Operator, OperatorSettings, WorkerCounts};
use seckill_gate::{
    AbuseRules, Authority, Clients, DeviceRule, Expectations, Gate, Limits, Networks, PerLimit, RateLimiting,
    Settings as GateSettings, Switches, Verifier, Verifiers,
};
use seckill_metrics::{Metrics, Recorder, Setup};
use seckill_stock::{Member, Members};
use tokio_util::sync::CancellationToken;

use crate::house::{NOW, TOKEN};

/// Tickets that may wait where no switch says otherwise.
const BACKLOG_MAX: u64 = 200_000;

/// A gate that knows no sale.
pub(crate) fn gate() -> Arc<Gate> {
    let secret = b"a secret of more than thirty-two bytes";
    let verifier = Verifier::hs256(secret, &Expectations::default()).expect("a good secret");
    Arc::new(Gate::new(GateSettings {
        authority: Authority::Tokens(Verifiers::new(verifier, 64)),
        clients: Clients::default(),
        trusted_proxies: Networks::default(),
        exempt: Networks::default(),
        limits: Limits::from(PerLimit {
            ip: "50/s burst 100".parse().expect("a limit"),
            ..PerLimit::OFF
        }),
        rate_limiting: RateLimiting::Local,
        abuse: AbuseRules {
            ip: "60/min burst 20".parse().expect("a limit"),
            block_for_ms: 60_000,
            ..AbuseRules::OFF
        },
        table_slots: 64,
        purchase_token_secret: [7; 32],
        devices: DeviceRule::Named,
        pow_bits: 8,
        switches: Switches::open(BACKLOG_MAX),
    }))
}

fn settings() -> Settings {
    Settings {
        token: AdminToken::new(TOKEN).expect("long enough"),
        shards_max: 1,
        public_url: None,
        trusted_proxies: Networks::default(),
        backlog_max: BACKLOG_MAX,
    }
}

/// Metrics of a node.
pub(crate) fn metrics() -> Arc<Metrics> {
    let metrics = Metrics::new(Setup {
        cores: 1,
        routes: seckill_console::ROUTES,
        version: "0",
        revision: None,
    });
    metrics.database_up.set_flag(true);
    Arc::new(metrics)
}

/// A node of this name with all roles and two workers.
pub(crate) fn live(id: &str, members: Arc<dyn Members>, metrics: &Arc<Metrics>) -> Live {
    let worker_counts = Arc::new(WorkerCounts::default());
    worker_counts.running.store(2, Ordering::Relaxed);
    Live {
        members,
        member: Member {
            id: id.to_owned(),
            roles: ["api", "worker", "scheduler"].map(str::to_owned).into(),
            version: "1.0.0".to_owned(),
            admin: "127.0.0.1:8081".to_owned(),
            started_at: NOW,
            ..Member::default()
        },
        recorder: Arc::new(Recorder::new(metrics.clone())),
        worker_counts,
        shutdown: CancellationToken::new(),
    }
}

/// A console over these layers.
pub(crate) fn console(
    layers: Layers,
    gate: &Arc<Gate>,
    readiness: &Readiness,
    live: Live,
    metrics: &Arc<Metrics>,
) -> Arc<Console> {
    Console::new(Parts {
        operator: Arc::new(Operator::new(layers, OperatorSettings::default())),
        gate: gate.clone(),
        metrics: metrics.clone(),
        live,
        readiness: readiness.clone(),
        house_checks: Arc::new(|| vec![Check::warning("house", "a test")]),
        settings: settings(),
        is_body_timeout: |_| false,
    })
}
