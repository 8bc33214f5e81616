//! The admin port: the console of operators, and `/metrics`.

use std::sync::Arc;
use std::time::Duration;

use seckill_api::Shared;
use seckill_console::{AdminToken, Connection, Console, Parts, router};
use seckill_gate::Networks;
use seckill_listener::{Limits, Listener, Server, ServerHandle, WhenFull, is_body_timeout};
use seckill_sale::Shards;
use seckill_settings::{Settings, StoreUrl};

use super::house_checks;
use super::live;
use super::node::Node;
use super::public;
use super::secrets::{self, Kept};
use crate::exit::{Failure, chain};

/// Connections of the admin port: operators and scrapers.
pub(crate) const CONNECTIONS_MAX: usize = 512;

/// How long a body may take at least: a list of a million users comes over a slow line, too. Whoever has not the token is answered before.
const LIST_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a fresh connection may stay silent at the most. Buyers connect ahead of a sale, operators and scrapers ask at once; and whoever
/// fills the few places without saying anything must not keep the operator out.
const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(5);

/// Binds the port.
pub(crate) fn bind(settings: &Settings) -> Result<Listener, Failure> {
    let address = settings.admin.listen;
    Listener::bind(address, settings.server.accept_backlog)
        .map_err(|error| public::unbound("admin.listen", "--admin-listen", &error))
}

/// The operator's token: from the settings, else the data folder's own.
pub(crate) fn token(settings: &Settings) -> Result<Kept, Failure> {
    match &settings.admin.token {
        Some(token) => Ok(Kept {
            text: token.reveal().to_owned(),
            made: false,
        }),
        None => secrets::admin_token(&settings.data_dir),
    }
}

/// The console; the switches and blocks of the ledger are in force once it is refreshed.
pub(crate) fn console(node: &Node, token: &str) -> Result<Arc<Console>, Failure> {
    let settings = &node.settings;
    let console = Console::new(Parts {
        operator: node.operator.clone(),
        gate: node.gate.clone(),
        metrics: node.metrics.clone(),
        readiness: node.readiness.clone(),
        house_checks: house_checks::of(node),
        live: live::of(node),
        settings: seckill_console::Settings {
            token: AdminToken::new(token).map_err(|error| Failure::usage(format!("admin.token: {error}")))?,
            shards_max: shards_max(&settings.store.url),
            public_url: None,
            trusted_proxies: Networks::new(settings.server.trusted_proxies.iter().copied()),
            backlog_max: settings.queue.backlog_max,
        },
        is_body_timeout: |error| is_body_timeout(error),
    });
    Ok(console)
}

/// Places that a sale may be split into: a process alone has nothing to spread it over.
fn shards_max(store: &StoreUrl) -> u16 {
    match store {
        StoreUrl::Embedded => 1,
        StoreUrl::Remote(_) => u16::try_from(Shards::MAX).expect("sixteen"),
    }
}

/// Limits of the admin port, out of those of the public one.
fn limits(public: &Limits) -> Limits {
    let connections_max = CONNECTIONS_MAX.min(public.connections_max);
    Limits {
        connections_max,
        // Scripts and scrapers that keep their connections must not keep the operator out, who may come from the same address.
        when_full: WhenFull::LongestIdleGivesWay,
        connections_per_ip: usize::MAX,
        first_byte_timeout: FIRST_BYTE_TIMEOUT.min(public.first_byte_timeout),
        body_timeout: public.body_timeout.max(LIST_TIMEOUT),
        ..public.clone()
    }
}

/// Serves the console on a thread of its own. What the listener refuses by itself is answered as on the public port.
pub(crate) fn serve(
    node: &Node,
    listener: Listener,
    console: &Arc<Console>,
    api: &Arc<Shared>,
) -> Result<ServerHandle, Failure> {
    let server = Server {
        listener,
        cores: 1,
        limits: limits(&public::limits(&node.settings)),
        error_answers: Arc::new(api.error_answers()),
        shutdown: node.shutdown.listeners.clone(),
    };
    let router = router(console.clone());
    let handle = server.serve(move |_core| {
        let router = router.clone();
        move |peer| Connection::new(router.clone(), peer.address.ip())
    });
    handle.map_err(|error| Failure::failed(chain(&error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_given_up_sooner_than_on_the_public_port_and_never_later() {
        let of = |seconds| {
            limits(&Limits {
                first_byte_timeout: Duration::from_secs(seconds),
                ..Limits::default()
            })
        };
        assert_eq!(of(35).first_byte_timeout, FIRST_BYTE_TIMEOUT);
        assert_eq!(of(2).first_byte_timeout, Duration::from_secs(2));
    }
}
