//! Looks once a second at what may go wrong, and has it told.
//!
//! Nodes with the scheduler's role do it, each for its own way to store and database; what is the same for all is told by the one that holds
//! the scheduler's lease.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use seckill_alerts::{Alerts, Delivery, Endpoint, Kind, Reading, Rules, SigningKey, Target, Tls, Waits, Watch, alerts};
use seckill_sale::{ActivityId, SystemClock};
use seckill_settings::{Secret, Settings};
use tokio::time::{MissedTickBehavior, interval};

use super::node::{Node, millis};
use crate::exit::Failure;

/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Looks between two audits: one sale after the other is audited, while nothing waits, since an audit counts rows of the database.
const LOOKS_AN_AUDIT: u64 = 60;
/// A sale that ended longer ago is audited by whoever wants to know, in milliseconds.
const AUDIT_AFTER_END_MS: i64 = 3_600_000;

/// What looks.
pub(crate) struct Watching {
    node: Arc<Node>,
    watch: Watch,
    alerts: Alerts,
    delivery: Option<Delivery>,
    audited_last: Option<ActivityId>,
}

/// Whether alerts can be sent with these settings.
pub(crate) fn check(settings: &Settings) -> Result<(), Failure> {
    target(settings, "").map(drop)
}

fn target(settings: &Settings, node: &str) -> Result<Option<Target>, Failure> {
    let Some(url) = &settings.alerts.webhook_url else {
        return Ok(None);
    };
    let endpoint =
        Endpoint::parse(url.reveal()).map_err(|error| Failure::usage(format!("alerts.webhook_url: {error}")))?;
    let tls = Tls::to(&endpoint).map_err(|error| Failure::usage(format!("alerts.webhook_url: {error}")))?;
    let key = settings.alerts.webhook_secret.as_ref().map(Secret::reveal);
    let key = key.map(SigningKey::parse).transpose();
    Ok(Some(Target {
        endpoint,
        tls,
        key: key.map_err(|error| Failure::usage(format!("alerts.webhook_secret: {error}")))?,
        node: node.to_owned(),
        waits: Waits::default(),
    }))
}

impl Watching {
    /// One that has seen nothing yet.
    pub(crate) fn new(node: &Arc<Node>) -> Result<Self, Failure> {
        let rules = Rules {
            down_after_ms: millis(node.settings.alerts.down_after),
            repeat_after_ms: millis(node.settings.alerts.repeat_after),
        };
        let target = target(&node.settings, &node.membership.own().id)?;
        let (alerts, delivery) = alerts(target, Arc::new(SystemClock));
        Ok(Self {
            node: node.clone(),
            watch: Watch::new(rules),
            alerts,
            delivery,
            audited_last: None,
        })
    }

    /// Looks until the house is closed.
    pub(crate) async fn run(mut self) {
        let shutdown = self.node.shutdown.house.clone();
        let delivery = self
            .delivery
            .take()
            .map(|delivery| tokio::spawn(delivery.run(shutdown.clone())));
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let looking = async {
            for look in 1_u64.. {
                ticks.tick().await;
                self.look();
                let is_calm = self.node.queue.depth().tickets == 0;
                if look % LOOKS_AN_AUDIT == 0 && is_calm && leads(&self.node) {
                    self.audit_next().await;
                }
            }
        };
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = looking => {}
        }
        if let Some(delivery) = delivery {
            let _ = delivery.await;
        }
    }

    fn look(&mut self) {
        let readings = readings(&self.node);
        for alert in self.watch.observe(self.node.stock.now(), &readings) {
            self.alerts.tell(alert);
        }
    }

    /// Audits the sale that comes after the last one: the alarm must not wait for a person to ask.
    async fn audit_next(&mut self) {
        let now = self.node.stock.now();
        let catalogue = self.node.gate.catalogue().all();
        let audited = catalogue.values().filter(|activity| {
            let window = activity.window;
            window.starts_at <= now && now < window.ends_at.plus(AUDIT_AFTER_END_MS)
        });
        let mut ids: Vec<_> = audited.map(|activity| activity.id).collect();
        ids.sort_unstable();
        let next = ids.iter().find(|id| self.audited_last < Some(**id)).or(ids.first());
        self.audited_last = next.copied();
        if let Some(id) = next
            && let Err(error) = self.node.operator.audit(*id).await
        {
            tracing::debug!(%error, activity = %id, "a sale could not be audited");
        }
    }
}

fn leads(node: &Node) -> bool {
    node.membership.leads().load(Ordering::Relaxed)
}

fn readings(node: &Node) -> Vec<Reading> {
    let reading = |kind, activity, level, said: String| Reading {
        kind,
        activity,
        level,
        said,
    };
    let words = |is_bad: bool, bad: &str, good: &str| (u64::from(is_bad), if is_bad { bad } else { good }.to_owned());
    let store_down = node.layers.lock().as_ref().is_some_and(|layers| layers.store.is_down());
    let database_down = node.metrics.database_up.value() == 0.0;
    let (level, said) = words(store_down, "the store does not answer", "the store answers again");
    let mut readings = vec![reading(Kind::StoreDown, None, level, said)];
    let (level, said) = words(
        database_down,
        "the database does not answer",
        "the database answers again",
    );
    readings.push(reading(Kind::DatabaseDown, None, level, said));
    if !leads(node) {
        return readings;
    }
    let dead = node.queue.depth().dead;
    readings.push(reading(
        Kind::DeadLetters,
        None,
        dead,
        match dead {
            1 => "1 dead letter waits for a person".to_owned(),
            dead => format!("{dead} dead letters wait for a person"),
        },
    ));
    for activity in node.gate.catalogue().all().values() {
        let id = Some(activity.id);
        let (level, said) = words(
            node.fences.shows(activity.id),
            "the sale is fenced: nobody is admitted",
            "the sale admits again",
        );
        readings.push(reading(Kind::ActivityFenced, id, level, said));
        if let Some(balanced) = node.operator.last_balanced(activity.id) {
            let (level, said) = words(
                !balanced,
                "the books do not balance: `seckill reconcile`",
                "the books balance again",
            );
            readings.push(reading(Kind::AuditDrift, id, level, said));
        }
    }
    readings
}
