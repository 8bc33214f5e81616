//! Nouns and rules of a flash sale: ids, quantities, windows, activities, tickets, orders, refusals, and the state machine of one sale.
//!
//! No IO and no clock of its own: time is passed in. Everything else in the house is built from these types; they depend on nothing of it.

mod activity;
mod backlog;
mod buyer;
mod buyers;
mod challenge;
mod claim;
mod code;
mod event;
mod finding;
mod hold;
mod ids;
mod installation;
mod money;
mod order;
mod order_no;
mod publishing;
mod refusal;
mod rooms;
mod sale;
mod sequenced;
mod shards;
mod shared_rate;
mod snapshot;
mod taking;
mod ticket;
mod time;
mod view;
mod words;

pub use activity::{Activity, Eligibility, Phase, Status, Terms};
pub use buyer::{Buyer, TicketState};
pub use challenge::Challenge;
pub use claim::{Claim, Decision};
pub use code::{Code, Language, NOT_ELIGIBLE, QUEUED};
pub use event::{Claimed, Conclusion, Event, FailureReason, Opened, Restored, UnitTo};
pub use finding::{Finding, Severity};
pub use hold::Hold;
pub use ids::{ActivityId, Epoch, IdError, ProductId, Quantity, Stock};
pub use installation::{InstallationId, InstallationIdError};
pub use money::{Currency, Price};
pub use order::{OrderEvent, OrderState, Refund, RefundState, Transition};
pub use order_no::OrderNo;
pub use refusal::{NotReady, Quota, Refusal, Scope};
pub use rooms::{InQueue, Rooms};
pub use sale::Sale;
pub use shards::Shards;
pub use shared_rate::SharedRate;
pub use taking::{Delivery, WaitsMax};
pub use ticket::Ticket;
pub use time::{Clock, EpochMs, ManualClock, SystemClock, Window};
pub use view::{Figures, Found, SaleView};
pub use words::{RequestId, RequestKey, UserId};
