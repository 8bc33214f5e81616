//! `seckill serve` and `seckill work`: a process with all roles, or some.
//!
//! ```text
//! settings ─▶ bind ports ─▶ open layers, check that they belong together ─▶ node ─▶ catalogue ─▶ say that it lives, look around ─▶ house, ports ─▶ ready
//! SIGTERM  ─▶ not ready ─▶ streams say goodbye ─▶ ports drain ─▶ house ends ─▶ journal and database close
//!             └─ all of it within server.shutdown_grace: what still waits for a disk then is left behind
//! ```

pub(crate) mod acceptance;
pub(crate) mod access;
mod admin;
mod alerting;
mod descriptors;
mod ending;
mod fences;
mod fingerprints;
mod follow;
mod house;
mod house_checks;
mod key_file;
pub(crate) mod layers;
mod ledger;
mod live;
mod locked_database;
mod membership;
mod meters;
mod neighbours;
pub(crate) mod node;
mod operator_settings;
mod own_name;
mod progress;
mod public;
mod roles;
pub(crate) mod secrets;
mod signals;
mod steps;
pub(crate) mod store;
mod tap;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use seckill_listener::{Listener, ServerHandle};
use seckill_settings::Settings;

use crate::exit::{Failure, Outcome};
use crate::logging;
use house::House;
pub(crate) use locked_database::Patience;
use node::Node;
pub(crate) use roles::{ALIVE_MS, Roles};
use secrets::Kept;
pub(crate) use signals::Signals;
use signals::StartGuard;

/// A serving process.
pub(crate) struct Running {
    node: Arc<Node>,
    house: House,
    /// Where the process has the role.
    public: Option<ServerHandle>,
    admin: ServerHandle,
    /// Token of the admin port.
    pub(crate) admin_token: String,
    /// Whether the token was made at this start: it is shown once.
    pub(crate) admin_token_made: bool,
}

/// Starts everything and returns once it is ready. Signals end the wait for a database that another process has locked.
pub(crate) fn start(mut settings: Settings, roles: Roles, signals: &mut Signals) -> Result<Running, Failure> {
    acceptance::check(&settings)?;
    let _guard = StartGuard::watch()?;
    descriptors::fit(&mut settings)?;
    let public_listener = roles.api.then(|| public::bind(&settings)).transpose()?;
    let admin_listener = admin::bind(&settings)?;
    let mut patience = Patience::of_server(signals);
    let opened = layers::open_layers(&settings, &mut patience)?;
    roles::refuse_own_orders_beside_others(&settings, &opened)?;
    neighbours::refuse_another_database(&settings, &opened)?;
    let name = own_name::take(&settings, &opened)?;
    ledger::tell_findings(&settings, &*opened.ledger);
    let token = admin::token(&settings)?;
    let node = Arc::new(Node::new(settings, roles, opened, name, &mut patience)?);
    let listeners = (public_listener, admin_listener);
    let begun = begin(&node, listeners, token, &mut patience);
    begun.inspect_err(|_refused| membership::take_back(&node, &mut patience))
}

/// Lets a node work: only once it has looked whether it belongs to those that use its store.
fn begin(
    node: &Arc<Node>,
    (public, admin): (Option<Listener>, Listener),
    token: Kept,
    patience: &mut Patience<'_>,
) -> Result<Running, Failure> {
    patience.ask(layers::is_passing, || {
        layers::block_on(node.operator.refresh_catalogue())
    })?;
    let console = admin::console(node, &token.text)?;
    patience.ask(seckill_ledger::Error::is_outage, || layers::block_on(console.refresh()))?;
    membership::join(node, &console)?;
    let house = House::start(node, &console)?;
    let api = public::shared(node)?;
    let admin = admin::serve(node, admin, &console, &api)?;
    let public = public.map(|listener| public::serve(node, listener, api)).transpose()?;
    meters::connect(node, public.as_ref().map(|public| public.counts().clone()));
    node.readiness.set_ready();
    let public_addr = public
        .as_ref()
        .map(ServerHandle::local_addr)
        .map(tracing::field::display);
    let roles = node.roles.names().join(",");
    tracing::info!(roles, public = public_addr, admin = %admin.local_addr(), "ready");
    Ok(Running {
        node: node.clone(),
        house,
        public,
        admin,
        admin_token: token.text,
        admin_token_made: token.made,
    })
}

impl Running {
    /// Address of the public port, where the process has one.
    pub(crate) fn public_addr(&self) -> Option<SocketAddr> {
        self.public.as_ref().map(ServerHandle::local_addr)
    }

    /// Address of the admin port.
    pub(crate) fn admin_addr(&self) -> SocketAddr {
        self.admin.local_addr()
    }

    /// Serves until a signal, or until the journal breaks, then ends orderly. A second signal cuts open requests off.
    pub(crate) fn until_signal(self, mut signals: Signals) -> Outcome {
        let broke = self.node.layers.lock().as_ref().map(|layers| layers.store.broke());
        let why = signals.wait(broke.unwrap_or_else(|| Box::pin(std::future::pending())));
        let cut_offs: Vec<_> = self
            .public
            .iter()
            .chain([&self.admin])
            .map(ServerHandle::cut_off)
            .collect();
        signals.on_next(move || cut_offs.iter().for_each(tokio_util::sync::CancellationToken::cancel));
        let stopped = self.stop();
        why.and(stopped)
    }

    /// Ends orderly.
    ///
    /// # Errors
    /// A failure where a disk did not answer within the grace: its journal or database was not closed, as in a crash.
    pub(crate) fn stop(self) -> Outcome {
        let began = Instant::now();
        let Self {
            node,
            house,
            public,
            admin,
            ..
        } = self;
        tracing::info!("shutting down");
        node.readiness.set_draining();
        node.shutdown.streams.cancel();
        node.shutdown.listeners.cancel();
        for (name, port) in public
            .map(|port| ("public", port))
            .into_iter()
            .chain([("admin", admin)])
        {
            if let Err(error) = port.join() {
                tracing::error!(%error, name, "a port did not end as it should");
            }
        }
        node.shutdown.house.cancel();
        let grace = node.settings.server.shutdown_grace;
        let ended = ending::close_within(began, grace, move || {
            house.join();
            drop(node.layers.lock().take());
        });
        if !ended {
            return Err(Failure::failed(
                "a disk did not answer within server.shutdown_grace; the process ends without it. Nothing that was answered is lost",
            ));
        }
        tracing::info!("ended");
        Ok(())
    }
}

/// Waits for a signal that ends a process without a journal.
pub(crate) fn until_signal() -> Outcome {
    Signals::install()?.wait(std::future::pending())
}

/// `seckill serve`.
pub(crate) fn run(settings: Settings, roles: Roles) -> Outcome {
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    // Taken over before anything is begun, so that no signal ends a half-started process by default.
    let mut signals = Signals::install()?;
    let running = start(settings, roles, &mut signals)?;
    if running.admin_token_made {
        logging::say(&format!(
            "admin token (shown once, kept in the data folder): {}",
            running.admin_token
        ));
    }
    running.until_signal(signals)
}
