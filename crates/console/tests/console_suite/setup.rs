//! The parts of a house that have settings.

use std::sync::Arc;

use seckill_api::Readiness;
use seckill_console::{AdminToken, Check, Console, Parts, Settings};
use seckill_flow::{Layers, Operator, OperatorSettings};
use seckill_gate::{
    Authority, Expectations, Gate, Limit, Limits, Networks, Settings as GateSettings, Switches, Verifier, Verifiers,
};
use seckill_metrics::{Metrics, Setup};

use crate::house::TOKEN;

/// A gate that knows no sale.
pub(crate) fn gate() -> Arc<Gate> {
    let secret = b"a secret of more than thirty-two bytes";
    let verifier = Verifier::hs256(secret, &Expectations::default()).expect("a good secret");
    Arc::new(Gate::new(GateSettings {
        authority: Authority::Tokens(Verifiers::new(verifier, 64)),
        trusted_proxies: Networks::default(),
        exempt: Networks::default(),
        limits: Limits {
            ip: "50/s burst 100".parse().expect("a limit"),
            user: Limit::Off,
            device: Limit::Off,
            read: Limit::Off,
        },
        table_slots: 64,
        purchase_token_secret: [7; 32],
        switches: Switches::open(200_000),
    }))
}

fn settings() -> Settings {
    Settings {
        token: AdminToken::new(TOKEN).expect("long enough"),
        shards_max: 1,
        public_url: None,
        trusted_proxies: Networks::default(),
    }
}

/// A console over these layers.
pub(crate) fn console(layers: Layers, gate: &Arc<Gate>, readiness: &Readiness) -> Arc<Console> {
    let metrics = Metrics::new(Setup {
        cores: 1,
        routes: seckill_console::ROUTES,
        version: "0",
        revision: "0",
    });
    Console::new(Parts {
        operator: Arc::new(Operator::new(layers, OperatorSettings::default())),
        gate: gate.clone(),
        metrics: Arc::new(metrics),
        readiness: readiness.clone(),
        house_checks: Arc::new(|| vec![Check::warning("house", "a test")]),
        settings: settings(),
        is_body_timeout: |_| false,
    })
}
