//! Stock and queue on Redis (7.0 or newer), standalone, behind Sentinel, or a cluster: any number of processes, one state.
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
//! What is answered without IO comes from the node's last readings: each answer carries a summary of its sale, and what others change is
//! told by the servers (`watch`) and read now and then. Of a sold-out sale a node loads the buyers (`winners`), and refuses strangers by itself.
//!
//! # Shards
//!
//! A sale may be split into up to sixteen shards, each with keys, tag and tickets of its own, so that each may be on another server of a
//! cluster. A buyer belongs to one of them by a hash of his id ([`seckill_sale::Shards`]), which also says how their tickets share one row
//! of sequences. Scripts know nothing of that: they count their shard's tickets from 1. Calls of different shards run at once; of each
//! shard a node has one under way, while what comes for it gathers. Sums over shards are exact where two readings show that no unit moved
//! between them (`reading`).
//!
//! ```text
//! transfer   units go to where buyers are: noted at the giver, credited once by id at the taker, then the note is cleared; any node goes on
//!            where another died, and units on their way count as left
//! elsewhere  a buyer whose shard is empty has units pulled, three times at the most, then he is told "busy"; "sold out" is said where two
//!            readings of all shards prove it: not enough units, none on their way, none moved in between
//! rebalance  levels shards before they run dry
//! units      a movement of the ledger is applied in the shard that its id names; what leaves is gathered there first
//! split_opening   the first shard is the arbiter: a sale is built when it is, and all others are filled before
//! ```
//! A sale of which one shard cannot be used, is lost, or belongs to another build admits nobody: its node looks at all shards before it
//! believes that, and again at each claim until it is over. The number of shards is fixed while the sale has a state.
//!
//! # Servers
//!
//! `link` knows the servers: which one has a shard, and what to do where it is gone or no longer leads. Each shard is asked, broken off and
//! mended with the server that has it; what belongs to no sale (members, leases, installation, list of sales, switches) has the tag
//! `{seckill}` and is with the server of that. While a server is gone, sales and shards on the others go on: who comes to a shard that is
//! gone, or needs its units, is told "busy", and never "sold out". `safety` examines the servers at the start.
//!
//! # Permits
//!
//! `{p:<key>}` says how many permits of a key were taken, and ends by itself (`lua/permit.lua`). It belongs to no sale and no list, and the
//! fence does not look at it: a server that starts from an older copy may give out again what was taken since. Whoever uses them says what
//! that costs; keys live for minutes.
//!
//! # Healing
//!
//! A state is used only on the server, and in the life of it, on which it was built or confirmed last (`lua/state.lua`, FENCE): a server that
//! started anew, was restored from an older copy, or was promoted answers that the state is doubtful, and changes nothing. Whoever heals it
//! (`seckill_flow`) confirms it where the ledger agrees, or gives it up: its keys move aside in one step (`lua/seal.lua`), everything that
//! can still be read of them is told (`salvage`), and they are kept until the next state is built, whoever dies in between. Of several shards
//! all are given up where one cannot be used. What a worker still holds of a lost state is adopted by the next one (`lua/adopt.lua`). The
//! fence costs one INFO a call: 6 of the 210 µs of a single claim, nothing that can be measured of a call for 256.
//!
//! A state also says when its sale was created, by the ledger, and each call when that was by the ledger that the node knows (`another`). A
//! ledger that was restored gives numbers out again; the state of a sale that had the number before is left alone by every call, and dropped
//! by whoever heals.

mod able;
mod adopting;
mod another;
mod background;
mod buyer;
mod calls;
mod claim_text;
mod claims;
mod confirming;
mod durability;
mod elsewhere;
mod engine;
mod engine_brake;
mod engine_examined;
mod engine_members;
mod engine_node;
mod engine_queue;
mod engine_stock;
mod error;
mod healing;
mod keys;
mod link;
mod listing;
mod look;
mod opening;
mod options;
mod pages;
mod permit;
mod rates;
mod reading;
mod rebalance;
mod remembered;
mod room;
mod safety;
mod sales;
mod salvage;
mod script;
mod shared;
mod split_opening;
mod standing;
mod summary;
mod time;
mod transfer;
mod troubles;
mod units;
mod verdicts;
mod waiting;
mod walk;
mod watch;
mod winners;

pub use durability::Durability;
pub use engine::{ConnectError, Engine};
pub use engine_node::check_address;
pub use error::Error;
pub use options::Options;
pub use safety::examine;
