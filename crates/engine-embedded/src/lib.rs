//! Stock and Queue in one process behind a durable journal.

pub mod journal;
pub mod lock;
pub mod storage;
