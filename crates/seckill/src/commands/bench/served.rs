//! What comparisons are made with: a bare answer, and the articles' algorithm, each behind the product's own accept loop.

mod naive;

use std::sync::Arc;

use seckill_gate::{Expectations, TOKEN_CACHE_ENTRIES_DEFAULT, Verifier, Verifiers};
use seckill_listener::{BACKLOG_DEFAULT, Limits, Listener, Server, ServerHandle, bare_error_answers, hello};
use seckill_settings::{JwtKey, StoreUrl};
use tokio_util::sync::CancellationToken;

use crate::cli::BenchArgs;
use crate::commands::Context;
use crate::exit::{Failure, Outcome, chain};
use naive::{Core, Shared};

/// The bare listener: the product's accept loop, and nothing behind it.
pub(super) fn hello(args: &BenchArgs) -> Outcome {
    serve(args, |server| server.serve(hello::core))
}

/// The articles' algorithm: the product's accept loop and token check, and one script call a buyer on a connection of each core.
pub(super) fn naive(context: &Context, args: &BenchArgs) -> Outcome {
    let settings = context.settings(Vec::new())?;
    let (StoreUrl::Remote(url), Some(JwtKey::Secret(secret))) = (&settings.store.url, &settings.auth.key) else {
        return Err(Failure::usage("it takes store.url and auth.jwt_secret"));
    };
    let verifier = Verifier::hs256(secret.reveal().as_bytes(), &Expectations::default());
    let verifier = verifier.map_err(|error| Failure::usage(chain(&error)))?;
    let client = redis::Client::open(url.reveal()).map_err(|error| Failure::usage(format!("store.url: {error}")))?;
    let shared = Arc::new(Shared {
        verifiers: Verifiers::new(verifier, TOKEN_CACHE_ENTRIES_DEFAULT),
        client,
    });
    serve(args, |server| server.serve(move |_| Core::start(shared.clone())))
}

/// Serves until a signal comes.
fn serve(args: &BenchArgs, begin: impl FnOnce(Server) -> Result<ServerHandle, seckill_listener::Error>) -> Outcome {
    let address = args.listen.as_deref().unwrap_or("127.0.0.1:0");
    let address = address
        .parse()
        .map_err(|error| Failure::usage(format!("--listen {address}: {error}")))?;
    let shutdown = CancellationToken::new();
    let server = Server {
        listener: Listener::bind(address, BACKLOG_DEFAULT).map_err(|error| Failure::failed(chain(&error)))?,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        limits: Limits {
            connections_per_ip: usize::MAX,
            ..Limits::default()
        },
        error_answers: bare_error_answers(),
        shutdown: shutdown.clone(),
    };
    let handle = begin(server).map_err(|error| Failure::failed(chain(&error)))?;
    crate::serve::until_signal()?;
    shutdown.cancel();
    handle.join().map_err(|error| Failure::failed(chain(&error)))
}
