//! The public port: the API on per-core runtimes.

use std::sync::Arc;
use std::time::Instant;

use seckill_api::{Api, CoreState, Parts, Polls, Shared, StreamLimits, WebhookSecret};
use seckill_flow::Purchase;
use seckill_listener::{Limits, Listener, Server, ServerHandle, WhenFull, is_body_timeout};
use seckill_metrics::Core;
use seckill_settings::{OnCancel, Settings, StoreUrl};
use seckill_stock::{Batcher, Bounds};

use super::ending;
use super::node::{Node, millis};
use crate::exit::{Failure, chain};

/// Binds the port, before anything else is begun: a second process is refused at once.
pub(crate) fn bind(settings: &Settings) -> Result<Listener, Failure> {
    let address = settings.server.listen;
    Listener::bind(address, settings.server.accept_backlog)
        .map_err(|error| unbound("server.listen", "--listen", &error))
}

/// Why a port can't be listened on, and how to take another one.
pub(crate) fn unbound(key: &str, flag: &str, error: &seckill_listener::Error) -> Failure {
    let remedy = match error {
        seckill_listener::Error::AddressInUse { .. } => {
            format!("; end that process, or give another address with {flag}")
        }
        _ => format!("; `{flag}` gives another address"),
    };
    Failure::failed(format!("{key}: {}{remedy}", chain(error)))
}

/// Whether the API can be made with these settings.
pub(crate) fn check(settings: &Settings) -> Result<(), Failure> {
    api_settings(settings).map(drop)
}

/// What all cores of the API share.
pub(crate) fn shared(node: &Node) -> Result<Arc<Shared>, Failure> {
    Ok(Shared::new(Parts {
        gate: node.gate.clone(),
        operator: node.operator.clone(),
        pace: node.pace.clone(),
        metrics: node.metrics.clone(),
        readiness: node.readiness.clone(),
        settings: api_settings(&node.settings)?,
        shutdown: node.shutdown.streams.clone(),
        is_body_timeout: |error| is_body_timeout(error),
    }))
}

/// Serves the API.
pub(crate) fn serve(node: &Node, listener: Listener, shared: Arc<Shared>) -> Result<ServerHandle, Failure> {
    let server = Server {
        listener,
        cores: node.settings.server.cores.get(),
        limits: limits(&node.settings),
        error_answers: Arc::new(shared.error_answers()),
        shutdown: node.shutdown.listeners.clone(),
    };
    let stock = node.stock.clone();
    let (store, took) = (node.settings.store.clone(), node.metrics.store_command_duration.clone());
    let steps = node.steps.clone();
    let bounds = Bounds {
        waiting_max: store.pending_max,
        wait_ms_max: millis(store.wait_max),
        answer_within: Some(store.answer_within),
    };
    let handle = server.serve(move |index| {
        Core::new(index).bind_thread();
        let (batcher, claims) = match &store.url {
            StoreUrl::Embedded => Batcher::bounded(stock.clone(), bounds),
            StoreUrl::Remote(_) => Batcher::apart(stock.clone(), bounds),
        };
        // The embedded store tells of its steps itself. Nothing in the other handle does; what the batches of each core took tells as much.
        let took = matches!(store.url, StoreUrl::Remote(_)).then(|| took.clone());
        let steps = steps.clone();
        let batcher = batcher.observed(move |step| {
            if let Some(took) = &took {
                took.observe(Core::new(index), step.took);
            }
            steps.count(step, Instant::now());
        });
        tokio::task::spawn_local(batcher.run());
        let purchase = Purchase::new(stock.clone(), claims);
        let api = Api::new(CoreState {
            shared: shared.clone(),
            purchase,
            index,
            storefront: None,
        });
        move |peer| api.connection(peer.address)
    });
    handle.map_err(|error| Failure::failed(chain(&error)))
}

/// Deadlines and caps of a port.
pub(crate) fn limits(settings: &Settings) -> Limits {
    let server = &settings.server;
    Limits {
        connections_max: server.connections_max,
        // Who waits for the start of a sale, connected ahead of it, keeps his place.
        when_full: WhenFull::RefuseNewest,
        connections_per_ip: server.connections_per_ip,
        first_byte_timeout: server.first_byte_timeout,
        header_timeout: server.header_timeout,
        idle_timeout: server.idle_timeout,
        body_timeout: server.body_timeout,
        write_stall_timeout: server.write_timeout,
        header_bytes_max: server.header_bytes_max,
        headers_max: server.headers_max,
        shutdown_grace: ending::ports_grace(server.shutdown_grace),
    }
}

fn api_settings(settings: &Settings) -> Result<seckill_api::Settings, Failure> {
    let webhook_secret = settings
        .payments
        .webhook_secret
        .as_ref()
        .map(|secret| WebhookSecret::parse(secret.reveal()));
    let webhook_secret = webhook_secret
        .transpose()
        .map_err(|error| Failure::usage(format!("payments.webhook_secret: {error}")))?;
    let ms = |duration| millis(duration).unsigned_abs();
    Ok(seckill_api::Settings {
        body_bytes_max: settings.server.body_bytes_max,
        in_flight_max: settings.server.in_flight_max.div_ceil(settings.server.cores.get()),
        pay_within_ms: millis(settings.orders.pay_within),
        reopens: settings.units.on_cancel == OnCancel::Sale,
        sandbox_payments: settings.payments.sandbox,
        webhook_secret,
        allowed_origins: settings.server.allowed_origins.clone(),
        public_url: settings.server.public_url.clone(),
        polls: Polls {
            wait_first_ms: ms(settings.polls.wait_first),
            first_count: settings.polls.first_count,
            wait_later_ms: ms(settings.polls.wait_later),
            give_up_after_ms: ms(settings.polls.give_up_after),
        },
        streams: StreamLimits {
            per_user_max: settings.streams.per_user_max,
            max: settings.streams.max,
            heartbeat: settings.streams.heartbeat,
        },
    })
}
