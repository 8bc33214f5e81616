//! The engine that this suite runs on: the embedded one.

#[path = "../../../engine-embedded/tests/shared/running.rs"]
mod running;

pub(crate) use running::Engine;
pub(crate) use seckill_engine_embedded::Embedded as Handle;
