//! Puts a listener to work: one thread that accepts, and one for each core.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::net::TcpListener;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body as HttpBody;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::task::LocalSet;
use tokio_util::sync::CancellationToken;
use tower::Service;

use crate::accept::{CoreInlet, Intake};
use crate::admission::Admission;
use crate::answer::ErrorAnswers;
use crate::bind::Listener;
use crate::body::Body;
use crate::connection::Rules;
use crate::core_loop::{Arrival, CoreLoop, Ending};
use crate::counts::Counts;
use crate::deadlines::CoreState;
use crate::descriptors::raise_descriptor_limit;
use crate::error::Error;
use crate::handle::{ServerHandle, Started};
use crate::limits::Limits;
use crate::peer::Peer;

/// Accepted connections that wait for one core to take them.
const ARRIVALS_MAX: usize = 1_024;

/// Everything a listener needs to serve, but for the service itself.
pub struct Server {
    /// The bound socket.
    pub listener: Listener,
    /// Number of runtimes, each on a thread of its own; at least one is started.
    pub cores: usize,
    /// Deadlines and caps.
    pub limits: Limits,
    /// Words the answers that never reach the service.
    pub error_answers: ErrorAnswers,
    /// Begins the shutdown when cancelled. Flip readiness before.
    pub shutdown: CancellationToken,
}

impl Server {
    /// Raises the descriptor limit, starts the threads and returns once all of them serve.
    ///
    /// `make_core` is called once on each core's thread, inside its runtime, with the core's index;
    /// what it returns makes the service of each connection of that core. Neither it, nor the
    /// services, nor their futures need to be `Send`: they stay on the thread.
    ///
    /// A service never has to answer 400, 414 or 431 without a body: such an answer of its own
    /// switches the wording of hyper's off for that moment.
    ///
    /// # Errors
    /// [`Error::Limit`] for a limit that serves nobody, [`Error::Descriptors`] and
    /// [`Error::Start`] where the system refuses, [`Error::Panicked`] where `make_core` does.
    pub fn serve<M, C, S, B>(self, make_core: M) -> Result<ServerHandle, Error>
    where
        M: Fn(usize) -> C + Send + Sync + 'static,
        C: Fn(Peer) -> S + 'static,
        S: Service<Request<Body>, Response = Response<B>, Error = Infallible> + Clone + 'static,
        B: HttpBody<Data = Bytes> + Unpin + 'static,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        self.limits.check()?;
        let asked_max = self.limits.connections_max;
        let limits = self.limits.fitted_to(raise_descriptor_limit()?);
        if limits.connections_max < asked_max {
            tracing::warn!(
                asked_max,
                connections_max = limits.connections_max,
                "fewer connections than asked for: the limit of open descriptors is low"
            );
        }
        let counts = Arc::<Counts>::default();
        let admission = Admission::new(Arc::clone(&counts), &limits);
        // A token of our own, so that a start that fails half-way ends what it has begun.
        let ending = Ending {
            shutdown: self.shutdown.child_token(),
            cut_off: CancellationToken::new(),
        };
        let unless_started = ending.cut_off.clone().drop_guard();
        let mut handle = ServerHandle::new(
            self.listener.local_addr(),
            limits.connections_max,
            Arc::clone(&counts),
            ending.clone(),
        );
        let make_core = Arc::new(make_core);
        let mut inlets = Vec::new();
        for index in 0..self.cores.max(1) {
            let (arrivals, taken) = mpsc::channel(ARRIVALS_MAX);
            let state = Arc::<CoreState>::default();
            inlets.push(CoreInlet {
                open: Arc::clone(&state.open),
                arrivals,
            });
            let core = Core {
                index,
                state,
                arrivals: taken,
                limits: limits.clone(),
                error_answers: Arc::clone(&self.error_answers),
                counts: Arc::clone(&counts),
                make_core: Arc::clone(&make_core),
            };
            let ending = ending.clone();
            handle.start(format!("listener-core-{index}"), |started| core.run(&started, ending))?;
        }
        let intake = Intake::new(admission, counts, inlets);
        let socket = self.listener.into_socket();
        handle.start("listener-accept".into(), |started| {
            accept(&started, intake, socket, ending);
        })?;
        unless_started.disarm();
        Ok(handle)
    }
}

/// What one core's thread is started with.
struct Core<M> {
    index: usize,
    state: Arc<CoreState>,
    arrivals: mpsc::Receiver<Arrival>,
    limits: Limits,
    error_answers: ErrorAnswers,
    counts: Arc<Counts>,
    make_core: Arc<M>,
}

impl<M> Core<M> {
    fn run<C, S, B>(self, started: &Started, ending: Ending)
    where
        M: Fn(usize) -> C,
        C: Fn(Peer) -> S + 'static,
        S: Service<Request<Body>, Response = Response<B>, Error = Infallible> + Clone + 'static,
        B: HttpBody<Data = Bytes> + Unpin + 'static,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        let Some(runtime) = build_runtime(started) else { return };
        let connections = LocalSet::new();
        connections.block_on(&runtime, async {
            let core = CoreLoop {
                index: self.index,
                state: self.state,
                arrivals: self.arrivals,
                rules: Rc::new(Rules::new(&self.limits, self.error_answers)),
                limits: self.limits,
                counts: self.counts,
                make_service: (self.make_core)(self.index),
            };
            let _ = started.send(Ok(()));
            core.run(ending).await;
        });
        drop(connections);
        // A blocking call of some handler must not outlast the grace.
        runtime.shutdown_background();
    }
}

fn accept(started: &Started, intake: Intake, socket: TcpListener, ending: Ending) {
    let Some(runtime) = build_runtime(started) else { return };
    runtime.block_on(async {
        let listener = socket.try_clone().and_then(tokio::net::TcpListener::from_std);
        match listener {
            Ok(listener) => {
                let _ = started.send(Ok(()));
                intake.run(listener, socket, ending).await;
            }
            Err(error) => _ = started.send(Err(error)),
        }
    });
}

fn build_runtime(started: &Started) -> Option<Runtime> {
    match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => Some(runtime),
        Err(error) => {
            let _ = started.send(Err(error));
            None
        }
    }
}
