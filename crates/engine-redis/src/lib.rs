//! Stock and queue on a standalone Redis (7.0 or newer): any number of processes, one state.
//!
//! [`Engine`] is the handle. Every change of a sale is one call of a Lua script (`lua/`, each with its keys, arguments, answers and
//! invariants) on the sale's keys, which share the tag `{a:<activity>:<shard>}`:
//!
//! ```text
//! meta    rules, counters, marks: what is left, next sequence, epoch, applied movement, holds, how many entries each other key has
//! buyers  user -> request key, quantity, sequence, epoch, moment, state: a book of admissions apart from the queue
//! fresh   stream with a consumer group; one entry for all winners of a claim call, its id is their first sequence and their number
//! back    tickets that left their entry (retry, lease that ended, part of an entry), due and order: when, and in which order
//! dead    dead letters with their reasons
//! ```
//! A script checks everything before it writes: the types of all keys and that each has as many entries as meta says, so that a key which
//! was deleted or lost alone is found by the next call, which then changes nothing; the epoch; the window by the server's `TIME`; the
//! buyer's earlier ticket; units; room in the queue. Its first write is the stream's, where ids that do not ascend are refused while nothing
//! has changed; the others cannot fail. Redis rolls nothing back, so this order is what makes a claim whole.
//!
//! A claim is idempotent by its request key. After a lost reply it is asked once more; then the outcome is unknown, and asking again with
//! the same key tells it. Tickets are the unit of attempts, deliveries and leases: an entry of which only some tickets come to an end is
//! acknowledged and deleted in the step that writes the others as tickets of their own.
//!
//! What is answered without IO comes from the node's last readings: each answer carries a summary of its sale, and a background task
//! reads those that others change. Of a sold-out sale a node loads the buyers (`winners`), and refuses strangers by itself.
//!
//! A state is used only on the server, and in the life of it, on which it was built or confirmed last (`lua/state.lua`, FENCE): a server that
//! started anew, was restored from an older copy, or was promoted answers that the state is doubtful, and changes nothing. Whoever heals it
//! (`seckill_flow`) confirms it where the ledger agrees, or gives it up: its keys move aside in one step (`lua/seal.lua`), everything that
//! can still be read of them is told (`salvage`), and they are kept until the next state is built, whoever dies in between. What a worker
//! still holds of a lost state is adopted by the next one (`lua/adopt.lua`). The fence costs one INFO a call: 6 of the 210 µs of a single
//! claim, nothing that can be measured of a call for 256.
//!
//! Not here yet: shards, Sentinel and Cluster.

mod adopting;
mod background;
mod buyer;
mod calls;
mod claims;
mod durability;
mod engine;
mod engine_brake;
mod engine_queue;
mod engine_stock;
mod error;
mod healing;
mod keys;
mod link;
mod opening;
mod options;
mod remembered;
mod safety;
mod salvage;
mod script;
mod shared;
mod summary;
mod time;
mod verdicts;
mod winners;

pub use durability::Durability;
pub use engine::{ConnectError, Engine};
pub use error::Error;
pub use options::Options;
