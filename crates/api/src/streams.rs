//! Counts open result streams: of one user, and altogether. A stream holds a place until it is dropped.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use seckill_metrics::{Core, LevelsGuard, Metrics, ShedReason, StreamKind};
use seckill_sale::UserId;

use crate::error::Error;
use crate::state::StreamLimits;

/// All open streams.
pub(crate) struct Streams {
    limits: StreamLimits,
    metrics: Arc<Metrics>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    total: usize,
    by_user: HashMap<UserId, usize>,
}

impl Streams {
    pub(crate) fn new(limits: StreamLimits, metrics: Arc<Metrics>) -> Self {
        Self {
            limits,
            metrics,
            open: Mutex::default(),
        }
    }

    /// A place for one more stream of `user`.
    ///
    /// # Errors
    /// [`Error::TooManyStreams`] where he has enough, or all have.
    pub(crate) fn enter(self: &Arc<Self>, user: &UserId, core: Core, kind: StreamKind) -> Result<Place, Error> {
        let mut open = self.open.lock();
        if self.limits.max <= open.total {
            self.metrics.shed.inc(core, ShedReason::StreamsMax);
            return Err(Error::TooManyStreams);
        }
        let of_user = open.by_user.get(user).copied().unwrap_or(0);
        if self.limits.per_user_max <= of_user {
            return Err(Error::TooManyStreams);
        }
        open.by_user.insert(user.clone(), of_user + 1);
        open.total += 1;
        Ok(Place {
            streams: self.clone(),
            user: user.clone(),
            _counted: self.metrics.streams.enter(core, kind),
        })
    }
}

/// One open stream.
pub(crate) struct Place {
    streams: Arc<Streams>,
    user: UserId,
    _counted: LevelsGuard,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.streams.open.lock();
        open.total -= 1;
        if let Some(of_user) = open.by_user.get_mut(&self.user) {
            *of_user -= 1;
            if *of_user == 0 {
                open.by_user.remove(&self.user);
            }
        }
    }
}
