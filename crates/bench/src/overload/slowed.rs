//! What slows an overloaded server's store down, outside of the product: a disk that holds syncs back, or a way to Redis that is long.

use std::time::{Duration, Instant};

use crate::bottleneck::Bottleneck;
use crate::disk;
use crate::fleet::FleetConfig;
use crate::held_disk::{Held, HeldDisk};
use crate::load::CONNECTIONS_MAX;
use crate::overload::OverloadConfig;
use crate::redis_servers::RedisServers;
use crate::relay::Relay;
use crate::subject::{Subject, SubjectConfig};
use crate::{Error, Result};

/// Questions of which the median tells how long an answer takes.
const QUESTIONS: usize = 51;

/// The product as it is to be started, and what must outlive it.
pub(super) struct Slowed {
    product: SubjectConfig,
    by: By,
}

enum By {
    Nothing,
    Disk { held_ms: u32, _disk: HeldDisk },
    Way { store: String, _relay: Relay },
}

impl Slowed {
    pub(super) fn start(config: &OverloadConfig) -> Result<Self> {
        let per_ip = (
            "SECKILL_SERVER__CONNECTIONS_PER_IP".to_owned(),
            CONNECTIONS_MAX.to_string(),
        );
        let product = config.product.clone().with([per_ip]);
        match (config.bottleneck, product) {
            (Bottleneck::Processor, product) => Ok(Self {
                product,
                by: By::Nothing,
            }),
            (Bottleneck::Store { held_ms }, product @ SubjectConfig::Alone(_)) => {
                let disk = HeldDisk::build(Held::Journal, Duration::from_millis(held_ms.into()))?;
                Ok(Self {
                    product: product.with(disk.environment()),
                    by: By::Disk { held_ms, _disk: disk },
                })
            }
            (Bottleneck::RemoteStore { delay_ms }, SubjectConfig::Fleet(fleet)) => {
                let relay = Relay::to_store(&fleet.store, Duration::from_millis(delay_ms.into()))?;
                let store = relay.url();
                Ok(Self {
                    product: SubjectConfig::Fleet(FleetConfig {
                        store: store.clone(),
                        ..fleet
                    }),
                    by: By::Way { store, _relay: relay },
                })
            }
            _ => Err(Error::Usage(
                "the journal of a process of its own can be held back, or the way to a Redis that runs already".into(),
            )),
        }
    }

    pub(super) fn product(&self) -> &SubjectConfig {
        &self.product
    }

    /// What a step of the store takes by itself, in milliseconds, where it is slowed down.
    pub(super) fn own_ms(&self, product: &Subject) -> Result<Option<f64>> {
        match (&self.by, product) {
            (By::Disk { held_ms, .. }, Subject::Alone(server)) => {
                Ok(Some(f64::from(*held_ms) + disk::probe(server.folder())?.median_ms))
            }
            (By::Way { store, .. }, _) => answer_ms(store).map(Some),
            _ => Ok(None),
        }
    }
}

/// How long the server takes to answer a question that costs it nothing.
fn answer_ms(store: &str) -> Result<f64> {
    let mut servers = RedisServers::connect(store)?;
    let mut times = Vec::with_capacity(QUESTIONS);
    for _ in 0..QUESTIONS {
        let begun = Instant::now();
        let _pong: String = servers.ask(&["PING"])?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(times[QUESTIONS / 2].as_secs_f64() * 1000.0)
}
