//! The way to the receiver: a bounded queue, and a task that posts one message after the other and tries again.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use seckill_sale::Clock;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::message::Message;
use crate::posting::Trouble;
use crate::{Alert, Endpoint, SigningKey, Tls, Turn};

/// Alerts that wait for the receiver.
pub const QUEUE_MAX: usize = 100;
/// How often a message is sent before it is given up.
pub const ATTEMPTS_MAX: u32 = 10;

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    /// From the connection to the answer, of one attempt.
    pub answer_within: Duration,
    /// After the first attempt that failed; doubled with each further one, and half of it by chance.
    pub retry_first: Duration,
    /// Longest wait between two attempts.
    pub retry_max: Duration,
}

impl Default for Waits {
    /// Ten attempts take half an hour.
    fn default() -> Self {
        Self {
            answer_within: Duration::from_secs(5),
            retry_first: Duration::from_secs(2),
            retry_max: Duration::from_secs(600),
        }
    }
}

/// Where messages go.
#[derive(Debug, Clone)]
pub struct Target {
    /// The receiver.
    pub endpoint: Endpoint,
    /// The encrypted way to him, where his address asks for one.
    pub tls: Option<Tls>,
    /// What they are signed with; none: they are not.
    pub key: Option<SigningKey>,
    /// Name of this node in messages.
    pub node: String,
    /// How long things may take.
    pub waits: Waits,
}

/// Takes alerts.
#[derive(Debug, Clone)]
pub struct Alerts {
    /// None where there is no receiver.
    queue: Option<Sender<Alert>>,
}

/// Brings alerts to the receiver; nothing is sent unless it runs.
pub struct Delivery {
    queue: Receiver<Alert>,
    target: Target,
    clock: Arc<dyn Clock>,
}

/// Alerts for the log and, where there is a target, for the task that has to run for it.
#[must_use]
pub fn alerts(target: Option<Target>, clock: Arc<dyn Clock>) -> (Alerts, Option<Delivery>) {
    let Some(target) = target else {
        return (Alerts { queue: None }, None);
    };
    let (sender, queue) = channel(QUEUE_MAX);
    let alerts = Alerts { queue: Some(sender) };
    (alerts, Some(Delivery { queue, target, clock }))
}

impl Alerts {
    /// Writes the alert to the log and puts it on its way. Waits for nothing.
    pub fn tell(&self, alert: Alert) {
        let (kind, activity, said) = (
            alert.kind.as_str(),
            alert.activity.map(tracing::field::display),
            &alert.said,
        );
        match alert.turn {
            Turn::Raised => tracing::error!(alert = kind, activity, said, "alert"),
            Turn::Resolved => tracing::info!(alert = kind, activity, said, "back again"),
        }
        if let Some(queue) = &self.queue
            && queue.try_send(alert).is_err()
        {
            tracing::error!(
                alert = kind,
                "too many alerts wait for the webhook; this one is not sent"
            );
        }
    }
}

impl Delivery {
    /// Sends until `shutdown`. What waits then stands in the log alone.
    pub async fn run(mut self, shutdown: CancellationToken) {
        let sending = async {
            while let Some(alert) = self.queue.recv().await {
                self.target.deliver(&alert, &*self.clock).await;
            }
        };
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = sending => {}
        }
    }
}

impl Target {
    async fn deliver(&self, alert: &Alert, clock: &dyn Clock) {
        let message = Message::new(alert, &self.node);
        let mut wait = self.waits.retry_first;
        for attempt in 1..=ATTEMPTS_MAX {
            let posted = timeout(self.waits.answer_within, self.post(&message, clock)).await;
            let trouble = match posted.unwrap_or(Err(Trouble::TooSlow)) {
                Ok(()) => return,
                Err(trouble) => trouble,
            };
            tracing::warn!(error = %trouble, attempt, id = message.id, "the alert webhook did not take a message");
            if attempt == ATTEMPTS_MAX || matches!(trouble, Trouble::Status(StatusCode::GONE)) {
                break;
            }
            sleep(wait.mul_f64(0.5 + rand::random::<f64>() / 2.0)).await;
            wait = (wait * 2).min(self.waits.retry_max);
        }
        tracing::error!(
            alert = alert.kind.as_str(),
            id = message.id,
            "the alert webhook did not get an alert"
        );
    }
}
