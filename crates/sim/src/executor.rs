//! Runs tasks one poll at a time, in an order drawn from the seed. No thread, no timer, no runtime.
//!
//! A task is polled only when its waker was called: a wake-up that the product loses leaves a task for ever, and the end of a run finds it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use crate::random::Random;

/// Whether a task may be left over when all is quiet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Somebody waits for its end.
    Errand,
    /// It runs as long as the process.
    Daemon,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

struct Task {
    name: String,
    kind: Kind,
    woken: Arc<Woken>,
    future: Pin<Box<dyn Future<Output = ()>>>,
}

/// The tasks of one process.
#[derive(Default)]
pub(crate) struct Tasks(Vec<Task>);

impl Tasks {
    pub(crate) fn spawn(&mut self, kind: Kind, name: String, future: impl Future<Output = ()> + 'static) {
        let future = Box::pin(future);
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        self.0.push(Task {
            name,
            kind,
            woken,
            future,
        });
    }

    /// Polls one of the tasks that were woken, and says which; none where all sleep.
    pub(crate) fn poll_one(&mut self, random: &mut Random) -> Option<String> {
        let awake: Vec<usize> = (0..self.0.len()).filter(|&at| self.is_awake(at)).collect();
        if awake.is_empty() {
            return None;
        }
        let at = *random.pick(&awake);
        let task = &mut self.0[at];
        task.woken.0.store(false, Ordering::SeqCst);
        let waker = Waker::from(task.woken.clone());
        let poll = task.future.as_mut().poll(&mut Context::from_waker(&waker));
        let name = task.name.clone();
        if poll == Poll::Ready(()) {
            drop(self.0.remove(at));
        }
        Some(name)
    }

    fn is_awake(&self, at: usize) -> bool {
        self.0[at].woken.0.load(Ordering::SeqCst)
    }

    /// Errands that are not done.
    pub(crate) fn errands(&self) -> Vec<String> {
        let errands = self.0.iter().filter(|task| task.kind == Kind::Errand);
        errands.map(|task| task.name.clone()).collect()
    }

    /// The process dies: nothing of it goes on.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Lets others go first, once.
pub(crate) async fn pause() {
    let mut paused = false;
    std::future::poll_fn(|context| {
        if paused {
            return Poll::Ready(());
        }
        paused = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_polled_when_woken_and_gone_when_done() {
        let mut tasks = Tasks::default();
        tasks.spawn(Kind::Errand, "pauses".to_owned(), pause());
        tasks.spawn(Kind::Errand, "sleeps".to_owned(), std::future::pending());
        let mut random = Random::new(1);
        let mut polls = 0;
        while tasks.poll_one(&mut random).is_some() {
            polls += 1;
        }
        assert_eq!((polls, tasks.errands()), (3, vec!["sleeps".to_owned()]));
    }
}
