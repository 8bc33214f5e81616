//! How one server is connected to: with login, encryption and limits in time.

use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, ProtocolVersion, PushInfo, RedisConnectionInfo,
    RedisResult, TlsCertificates,
};

use super::address::Spot;
use crate::options::Options;

/// Commands that may wait in a connection; the batchers in front are bounded, too.
const PIPELINE_SIZE: usize = 1_024;

pub(crate) struct Connector {
    pattern: ConnectionInfo,
    /// Who signed the servers' certificates, where that is not for the system to say.
    authority: Option<Vec<u8>>,
    config: AsyncConnectionConfig,
    /// Longest wait for a connection.
    pub(crate) within: Duration,
}

impl Connector {
    pub(crate) fn new(pattern: ConnectionInfo, options: &Options) -> Self {
        if matches!(pattern.addr(), ConnectionAddr::TcpTls { .. }) {
            // One for the process; whoever came first has chosen.
            let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        }
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(options.connect_within))
            .set_response_timeout(Some(options.answer_within))
            .set_pipeline_buffer_size(PIPELINE_SIZE);
        Self {
            pattern,
            authority: options.authority.clone(),
            config,
            within: options.connect_within,
        }
    }

    /// A connection for commands.
    pub(crate) async fn connect(&self, at: &Spot) -> RedisResult<MultiplexedConnection> {
        self.open(at, self.pattern.redis_settings().clone(), &self.config).await
    }

    /// A connection to one who may know no login, such as a sentinel.
    pub(crate) async fn connect_unnamed(&self, at: &Spot) -> RedisResult<MultiplexedConnection> {
        self.open(at, RedisConnectionInfo::default(), &self.config).await
    }

    /// The same with the login, and never a database: a sentinel has none.
    pub(crate) async fn connect_named(&self, at: &Spot) -> RedisResult<MultiplexedConnection> {
        let login = self.pattern.redis_settings().clone().set_db(0);
        self.open(at, login, &self.config).await
    }

    /// A connection of its own that is told of messages.
    pub(crate) async fn connect_told(
        &self,
        at: &Spot,
        told: impl Fn(PushInfo) + Send + Sync + 'static,
    ) -> RedisResult<MultiplexedConnection> {
        let login = self
            .pattern
            .redis_settings()
            .clone()
            .set_protocol(ProtocolVersion::RESP3);
        let told = Arc::new(told);
        let config = self.config.clone().set_push_sender(move |push| {
            told(push);
            Ok::<(), std::convert::Infallible>(())
        });
        self.open(at, login, &config).await
    }

    async fn open(
        &self,
        at: &Spot,
        login: RedisConnectionInfo,
        config: &AsyncConnectionConfig,
    ) -> RedisResult<MultiplexedConnection> {
        let addr = match self.pattern.addr() {
            ConnectionAddr::TcpTls { insecure, .. } => ConnectionAddr::TcpTls {
                host: at.host.clone(),
                port: at.port,
                insecure: *insecure,
                tls_params: None,
            },
            _ => ConnectionAddr::Tcp(at.host.clone(), at.port),
        };
        let info = self.pattern.clone().set_addr(addr).set_redis_settings(login);
        let client = match &self.authority {
            Some(authority) => Client::build_with_tls(
                info,
                TlsCertificates {
                    client_tls: None,
                    root_cert: Some(authority.clone()),
                },
            )?,
            None => Client::open(info)?,
        };
        client.get_multiplexed_async_connection_with_config(config).await
    }
}

/// Longest of the waits between two attempts, which double from the shortest.
pub(crate) const PAUSE_MAX: Duration = Duration::from_millis(200);
/// Shortest.
pub(crate) const PAUSE_MIN: Duration = Duration::from_millis(5);
