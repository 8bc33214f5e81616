//! What every stock engine must do, as facts that an engine's tests call one by one with a fresh [`Fixture`].
//!
//! A fact panics where it does not hold. They need no runtime of their own and no timers.

use std::sync::Arc;

use seckill_sale::{
    ActivityId, Buyer, Claim, Epoch, EpochMs, ManualClock, NotReady, Opened, Quantity, Refusal, RequestId, RequestKey,
    Shards, Status, Terms, TicketState, UserId, Window,
};

use crate::{Answer, Glance, OpenOutcome, Opening, Reserved, Stock};

mod backlogs;
mod brakes;
mod claims;
mod numbers;
mod permits;
mod rebases;
mod states;

pub use backlogs::*;
pub use brakes::*;
pub use claims::*;
pub use numbers::*;
pub use permits::*;
pub use rebases::*;
pub use states::*;

/// A fresh engine whose clock stands at [`Fixture::OPENS`].
#[derive(Clone)]
pub struct Fixture {
    /// The engine.
    pub stock: Arc<dyn Stock>,
    /// Its clock.
    pub clock: Arc<ManualClock>,
    /// Sub-stocks that the sale is opened with. What of order facts say holds within each; with one they say it of the whole sale.
    pub shards: Shards,
}

impl Fixture {
    /// Start of the window of every sale here.
    pub const OPENS: EpochMs = EpochMs(1_000_000);
    /// When every sale here was created.
    pub const CREATED: EpochMs = EpochMs(900_000);
    /// End of the window of every sale here.
    pub const ENDS: EpochMs = EpochMs(2_000_000);

    /// The one sale of most facts.
    #[must_use]
    pub fn activity() -> ActivityId {
        ActivityId::new(7).expect("in range")
    }

    /// Rules of the sale: running, two units a purchase at the most.
    #[must_use]
    pub fn terms(activity: ActivityId) -> Terms {
        let window = Window {
            starts_at: Self::OPENS,
            ends_at: Self::ENDS,
        };
        let per_user_limit = Quantity::new(2).expect("in range");
        Terms {
            activity,
            window,
            per_user_limit,
            status: Status::Running,
            created_at: Some(Self::CREATED),
        }
    }

    /// What opens the sale with `left` units.
    #[must_use]
    pub fn opening(activity: ActivityId, left: u64) -> Opening {
        let opened = Opened {
            terms: Self::terms(activity),
            epoch: Epoch::FIRST,
            left,
            next_sequence: 1,
            applied_movement: 0,
        };
        Opening {
            opened,
            shards: Shards::ONE,
            buyers: Vec::new(),
            replaces: None,
            grace_ms: 0,
        }
    }

    /// Opens the sale with `left` units.
    pub async fn open(&self, left: u64) {
        let outcome = self.stock.open(self.opening_here(left)).await;
        assert_eq!(outcome, Ok(OpenOutcome::Created));
    }

    /// What opens the sale with `left` units in this fixture's sub-stocks.
    #[must_use]
    pub fn opening_here(&self, left: u64) -> Opening {
        Opening {
            shards: self.shards,
            ..Self::opening(Self::activity(), left)
        }
    }

    /// Has claims decided in this order: as one batch where the sale is in one piece, else one by one, since sub-stocks decide at once.
    pub async fn in_order(&self, claims: Vec<Claim>) -> Vec<Answer> {
        if !self.shards.is_split() {
            return self.stock.claim(claims).await;
        }
        let mut answers = Vec::new();
        for claim in claims {
            answers.extend(self.stock.claim(vec![claim]).await);
        }
        answers
    }

    /// The sequence that is a user's where his sub-stock gives out its `nth`.
    #[must_use]
    pub fn sequence(&self, user: &str, nth: u64) -> u64 {
        let user = UserId::new(user).expect("valid");
        self.shards.sequence(self.shards.of(&user), nth)
    }

    /// A claim of `user` with a key of his own.
    #[must_use]
    pub fn claim(user: &str, key: u8, quantity: u64) -> Claim {
        Claim {
            activity: Self::activity(),
            user: UserId::new(user).expect("valid"),
            key: RequestKey([key; 16]),
            quantity: Quantity::new(quantity).expect("in range"),
            request_id: RequestId::new("r-1").expect("valid"),
        }
    }

    /// Claims one unit for `user` alone.
    pub async fn buy(&self, user: &str, key: u8) -> Answer {
        self.stock.claim(vec![Self::claim(user, key, 1)]).await.remove(0)
    }

    /// Claims one unit for `user` and expects it.
    pub async fn bought(&self, user: &str, key: u8) -> Reserved {
        self.buy(user, key)
            .await
            .unwrap_or_else(|refusal| panic!("{user} was refused: {refusal:?}"))
    }

    /// The buyer's entry.
    pub async fn buyer(&self, user: &str) -> Option<Buyer> {
        let user = UserId::new(user).expect("valid");
        self.stock
            .buyer(Self::activity(), &user)
            .await
            .expect("the store answers")
    }
}

/// Calls every fact of this suite with a fresh fixture each, as tests of the calling module: `stock_conformance!(fixture, block_on)`.
#[macro_export]
macro_rules! stock_conformance {
    ($fixture:expr, $block_on:expr) => {
        $crate::stock_conformance!(@each $fixture, $block_on,
            units_are_sold_exactly, a_later_claim_of_a_batch_sees_the_earlier_one, repeat_hears_his_own_ticket,
            the_same_request_again_gets_the_same_ticket, the_same_key_with_another_quantity_is_refused,
            window_is_half_open_by_the_stores_clock, sold_out_sale_still_knows_its_buyers,
            a_refused_claim_changes_nothing, quantity_above_what_is_left_is_sold_out,
            full_backlog_refuses_after_repeat_and_sold_out,
            a_full_backlog_has_room_for_a_sale_that_has_less_than_its_part,
            a_sale_that_is_held_back_admits_nobody_and_its_neighbours_do, replay_is_answered_after_the_end_and_while_paused,
            users_are_told_apart_bytewise, a_sale_without_state_is_not_ready, opening_twice_changes_nothing,
            a_state_is_replaced_only_where_its_epoch_is_named, a_state_that_can_be_used_is_not_given_up,
            a_state_of_another_sale_is_left_alone_until_it_is_given_up, a_state_learns_once_when_its_sale_was_created,
            paused_and_closed_sales_admit_nobody, a_movement_is_applied_once_and_in_order,
            added_units_reopen_a_sold_out_sale, a_rebuilt_state_knows_its_buyers, a_rebase_that_may_not_raise_leaves_fewer_units_as_they_are, forgotten_sale_has_no_state,
            sequences_ascend_from_one, glance_knows_strangers_and_buyers, a_held_sale_admits_nobody_whatever_its_rules_say,
            a_release_ends_only_the_hold_it_names,
            holds_and_their_ends_are_done_in_the_order_in_which_they_are_asked_for,
            a_sale_without_state_cannot_be_held, switches_are_kept_until_taken_back,
            switches_that_others_had_kept_meanwhile_stay,
            each_node_hears_what_waits_at_the_others_until_it_is_taken_back_or_its_node_falls_silent,
            a_permit_of_one_is_taken_once, of_many_who_ask_at_once_one_has_the_permit, as_many_permits_are_given_out_as_there_are,
            a_permit_is_forgotten_after_its_moment_and_its_key_starts_afresh, a_permit_whose_moment_is_over_is_nobodys,
        );
    };
    (@each $fixture:expr, $block_on:expr, $($fact:ident),* $(,)?) => {
        $(#[test]
        fn $fact() {
            let fixture = $fixture;
            $block_on($crate::conformance::$fact(&fixture));
        })*
    };
}
