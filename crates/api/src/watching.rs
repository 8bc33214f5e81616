//! One watcher of a result until it is final, whatever carries the news to him.

use std::time::Duration;

use seckill_flow::Subscription;
use seckill_metrics::StreamKind;
use seckill_sale::{ActivityId, EpochMs, UserId};
use tokio::time::{Instant, sleep_until};

use crate::call::Call;
use crate::error::Error;
use crate::result;
use crate::result_view::ResultView;
use crate::streams::Place;

/// Longest life of a stream.
const AGE_MAX: Duration = Duration::from_secs(15 * 60);

/// A buyer, and until when his token proves it.
pub(crate) type Known = (UserId, Option<EpochMs>);

/// A watcher. He holds a place among the open streams until he is dropped.
pub(crate) struct Watching {
    pub(crate) call: Call,
    activity: ActivityId,
    user: UserId,
    subscription: Subscription,
    ends_at: Instant,
    next_beat: Instant,
    _place: Place,
}

/// What a watcher has to tell next.
pub(crate) enum News {
    /// The result is final; there is nothing after it.
    Final(ResultView),
    /// A sign of life.
    Beat,
    /// Nothing more here: the process stops, the token has expired, or [`AGE_MAX`] is over. He may come again.
    Over,
}

impl Watching {
    /// Begins to watch.
    ///
    /// # Errors
    /// [`Error::TooManyStreams`]; [`Error::NotFound`] where he has no ticket.
    pub(crate) async fn begin(
        call: Call,
        activity: ActivityId,
        (user, expires_at): Known,
        kind: StreamKind,
    ) -> Result<Self, Error> {
        let shared = call.shared();
        let place = shared.streams.enter(&user, call.core.index, kind)?;
        // Before the first look, so that no change falls between the two.
        let subscription = shared.results.subscribe(activity, user.clone());
        result::view(&call, activity, &user).await?;
        // Asked now: the call may have begun before the token was read.
        let at = shared.moment().now;
        let left_ms = expires_at.map_or(u64::MAX, |expires_at| u64::try_from(expires_at.since(at)).unwrap_or(0));
        let now = Instant::now();
        Ok(Self {
            ends_at: now + AGE_MAX.min(Duration::from_millis(left_ms)),
            next_beat: now + shared.settings.streams.heartbeat,
            call,
            activity,
            user,
            subscription,
            _place: place,
        })
    }

    /// The result, where it is final.
    pub(crate) async fn look(&self) -> Option<ResultView> {
        let view = result::view(&self.call, self.activity, &self.user).await.ok()?;
        view.is_final().then_some(view)
    }

    /// Waits for something to tell. May be dropped while it waits.
    pub(crate) async fn next(&mut self) -> News {
        let shutdown = self.call.shared().shutdown.clone();
        loop {
            tokio::select! {
                () = self.subscription.changed() => {
                    if let Some(view) = self.look().await {
                        return News::Final(view);
                    }
                }
                () = sleep_until(self.next_beat) => {
                    self.next_beat += self.call.shared().settings.streams.heartbeat;
                    // A wake that was lost, wherever, costs one heartbeat.
                    return self.look().await.map_or(News::Beat, News::Final);
                }
                () = sleep_until(self.ends_at) => return News::Over,
                () = shutdown.cancelled() => return News::Over,
            }
        }
    }
}
