//! The list of scenarios: what is prepared, and how many operations are counted.

use seckill_sale::TicketState;

use crate::claim::{BATCH, To};
use crate::store::Sales;
use crate::{claim, gate, settle};

/// Work that is ready to be counted. It says how many of its operations ended as the scenario wants them to end.
pub type Prepared = Box<dyn FnMut() -> anyhow::Result<usize>>;

/// One workload.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// Its name: what is measured, and with how much.
    pub name: &'static str,
    /// Operations that are counted where nothing else is asked for.
    pub operations: usize,
    prepare: fn(usize) -> anyhow::Result<Prepared>,
}

impl Scenario {
    /// Does everything that goes before the first counted operation, the warm-up included.
    ///
    /// # Errors
    /// Where no temporary file can be made, or the product refuses what the scenario needs.
    pub fn prepare(&self, operations: usize) -> anyhow::Result<Prepared> {
        (self.prepare)(operations)
    }
}

/// The scenario of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.name == name)
}

const fn scenario(name: &'static str, operations: usize, prepare: fn(usize) -> anyhow::Result<Prepared>) -> Scenario {
    Scenario {
        name,
        operations,
        prepare,
    }
}

/// The second half of a sale to this many. However shards grow, doubling their number makes each grow about once, so the count holds
/// what growth costs a buyer, and does not hang on whether it falls into a short stretch.
fn second_half(buyers: usize, operations: usize) -> anyhow::Result<Prepared> {
    let sales = Sales {
        buyers: buyers / 2,
        left: buyers as u64,
        ..Sales::ONE
    };
    claim::admitted(sales, To::All, BATCH, operations)
}

const fn open_sales(count: usize) -> Sales {
    Sales { count, ..Sales::ONE }
}

const QUEUED: Sales = Sales {
    buyers: 100_000,
    state: TicketState::Queued,
    left: 100_000,
    ..Sales::ONE
};

/// All scenarios, those that take longest first.
pub const SCENARIOS: &[Scenario] = &[
    scenario("claim/buyers-1000000", 500_000, |operations| {
        second_half(1_000_000, operations)
    }),
    scenario("claim/buyers-100000", 50_000, |operations| {
        second_half(100_000, operations)
    }),
    scenario("claim/buyers-10000", 5_000, |operations| {
        second_half(10_000, operations)
    }),
    scenario("claim/buyers-1000", 500, |operations| second_half(1_000, operations)),
    scenario("claim/activities-100", 4_096, |operations| {
        claim::admitted(open_sales(100), To::All, BATCH, operations)
    }),
    scenario("claim/activities-100-idle", 4_096, |operations| {
        claim::admitted(open_sales(100), To::First, BATCH, operations)
    }),
    scenario("claim/activities-10", 4_096, |operations| {
        claim::admitted(open_sales(10), To::All, BATCH, operations)
    }),
    scenario("claim/activities-1", 4_096, |operations| {
        claim::admitted(open_sales(1), To::All, BATCH, operations)
    }),
    scenario("claim/queued-100000", 4_096, |operations| {
        claim::admitted(QUEUED, To::All, BATCH, operations)
    }),
    scenario("claim/batch-1", 1_024, |operations| {
        claim::admitted(Sales::ONE, To::All, 1, operations)
    }),
    scenario("refused/sold-out", 4_096, claim::sold_out),
    scenario("repeat/another-request", 4_096, claim::another),
    scenario("repeat/same-request", 4_096, claim::replayed),
    scenario("settle/orders-512", 4_096, |operations| settle::orders(512, operations)),
    scenario("settle/orders-1", 256, |operations| settle::orders(1, operations)),
    scenario("settle/take-512", 4_096, settle::taken),
    scenario("settle/record-512", 4_096, settle::recorded),
    scenario("gate/seen", 2_048, gate::seen),
    scenario("gate/new-token", 2_048, gate::new),
    scenario("gate/purchase-token", 2_048, gate::with_purchase_token),
    scenario("gate/all-gates", 2_048, gate::all_gates),
    scenario("gate/limited-address", 2_048, gate::limited_address),
    scenario("gate/forged-token", 2_048, gate::forged),
    scenario("gate/unknown-activity", 2_048, gate::unknown_activity),
    scenario("gate/blocked", 2_048, gate::blocked),
    scenario("gate/not-started", 2_048, gate::not_started),
    scenario("gate/limited-user", 2_048, gate::limited_user),
    scenario("gate/limited-network", 2_048, gate::limited_network),
    scenario("gate/noted-as-abuse", 2_048, gate::noted_as_abuse),
    scenario("gate/entrance-shut", 2_048, gate::entrance_shut),
    scenario("gate/not-let-in", 2_048, gate::not_let_in),
    scenario("gate/not-eligible", 2_048, gate::not_eligible),
    scenario("gate/unsigned-device", 2_048, gate::unsigned_device),
    scenario("gate/picture", 512, gate::picture),
    scenario("gate/work", 2_048, gate::work),
    scenario("gate/work-done", 2_048, gate::work_done),
    scenario("gate/check/address", 2_048, gate::address),
    scenario("gate/check/forwarded-address", 2_048, gate::forwarded_address),
    scenario("gate/check/seen-token", 2_048, gate::seen_token),
    scenario("gate/check/new-token", 2_048, gate::new_token),
    scenario("gate/check/catalogue", 2_048, gate::catalogue),
    scenario("gate/check/blocks", 2_048, gate::block_list),
    scenario("gate/check/eligible", 2_048, gate::eligible),
    scenario("gate/check/limiter", 2_048, gate::limiter),
    scenario("gate/check/purchase-token", 2_048, gate::purchase_token),
    scenario("gate/check/signed-request", 2_048, gate::signed_request),
];
