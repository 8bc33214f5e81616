//! What every database must do, as facts. A database's tests call them with fresh ledgers by [`crate::conformance_tests`], in each of
//! its modes; after every fact the books are checked by [`books::check`].
//!
//! The facts know the contract alone and need no certain executor. What only one database can do (a locked file, a killed session)
//! is tested beside that database.

pub mod books;
pub mod catalog;
pub mod changes;
pub mod dead_letters;
pub mod discarding;
pub mod eligible;
pub mod expiry;
pub mod operations;
pub mod orders;
pub mod pauses;
pub mod payments;
pub mod redelivery;
pub mod schedules;
pub mod settlement;
pub mod shop;
pub mod stock;

/// Makes a test of every fact. `$fresh` is a function that returns an empty ledger in an `Arc` and whatever must outlive it; `$block_on`
/// a function that runs a future to its end.
#[macro_export]
macro_rules! conformance_tests {
    ($fresh:path, $block_on:path) => {
        $crate::conformance_tests! { @facts $fresh, $block_on,
            catalog: [
                the_same_key_makes_one_product_and_one_activity,
                a_product_is_given_more_units_once_and_a_sale_takes_them,
                a_key_with_another_digest_is_refused,
                opening_counts_the_epoch_and_reads_what_is_left,
                live_activities_leave_out_what_ended_long_ago,
                lists_show_every_row_once,
                rows_that_are_not_there_are_not_found,
            ],
            changes: [
                status_goes_from_running_to_paused_to_closed_and_never_back,
                a_draft_is_published_by_a_patch_alone,
                price_start_and_limit_are_fixed_once_preheated,
                a_patch_that_saw_an_older_version_is_refused,
                an_end_before_the_start_is_rejected,
                an_empty_notice_removes_it,
            ],
            pauses: [
                a_pause_takes_the_place_of_an_earlier_one,
                a_pause_ends_only_at_the_moment_it_was_given, a_pause_that_comes_late_gives_way_to_what_was_said_since,
                the_window_of_an_ended_sale_is_not_moved,
            ],
            stock: [
                creating_an_activity_takes_its_units_from_the_product,
                a_short_product_refuses_and_keeps_its_units,
                added_stock_counts_once_for_its_key,
                a_closed_activity_takes_no_stock,
                unsold_units_return_once_and_only_after_closing,
                units_of_parked_tickets_are_not_unsold,
                a_sold_out_sale_returns_nothing_once,
                the_store_is_told_of_its_movements_alone,
            ],
            settlement: [
                a_batch_becomes_orders_records_and_one_movement,
                batches_of_every_size_are_written_whole,
                an_oversold_batch_settles_what_fits_oldest_first,
                users_are_compared_byte_by_byte,
                a_rejected_row_leaves_nothing_of_its_batch,
                tickets_of_an_unknown_activity_are_not_settled,
                a_closed_activity_settles_what_it_accepted,
                batches_are_counted_by_the_installation,
                records_are_listed_by_user, the_newest_ticket_is_the_one_accepted_last,
            ],
            redelivery: [
                redelivery_in_any_order_changes_nothing,
                tickets_of_an_older_state_are_refused,
                tickets_of_another_sale_that_had_the_number_are_refused,
                tickets_without_a_unit_fail_and_move_none,
                two_workers_with_the_same_tickets_write_each_once,
                another_ticket_of_a_buyer_fails_and_leaves_his_rows_alone,
                a_final_failure_stays_when_units_come_back,
            ],
            orders: [
                an_order_of_another_user_is_no_order,
                orders_are_listed_newest_first,
            ],
            payments: [
                the_same_payment_twice_pays_once,
                a_second_payment_must_go_back,
                money_that_does_not_fit_changes_nothing,
                a_payment_id_is_good_for_one_order,
                money_at_the_deadline_is_late,
                late_money_never_reopens_an_order,
            ],
            expiry: [
                pay_cancel_and_expire_in_every_order_end_an_order_once,
                cancelling_twice_moves_its_units_once,
                cancelled_units_go_where_the_setting_says_while_the_sale_is_open,
                expiry_takes_the_oldest_deadlines_up_to_its_limit,
                expiry_moves_units_once_for_each_activity,
                two_expiries_at_once_expire_each_order_once,
            ],
            dead_letters: [
                a_parked_ticket_is_shown_and_keeps_its_units,
                parking_twice_is_once,
                a_settled_ticket_is_not_parked,
                a_retried_ticket_settles_and_retrying_twice_is_once,
                a_retried_ticket_may_be_parked_anew,
                a_ticket_of_an_unknown_activity_is_parked,
                a_ticket_out_of_range_is_parked,
                a_parked_ticket_that_settles_after_all_leaves_the_list,
            ],
            discarding: [
                discarding_twice_returns_units_once,
                units_of_a_discarded_ticket_go_to_the_product_after_the_end,
                a_resolved_letter_stays_resolved,
                a_discarded_ticket_stays_failed_when_it_is_delivered_again,
                a_discarded_ticket_without_a_unit_returns_none,
            ],
            schedules: [
                a_schedule_reads_back_as_it_was_made,
                a_round_is_made_once,
                two_makers_of_a_round_make_one,
                a_short_product_gives_the_round_up_and_says_why,
                a_schedule_is_switched_off_and_on,
            ],
            eligible: [
                a_list_reads_back_as_it_was_written,
                each_list_has_a_version_of_its_own,
                a_later_list_has_a_greater_version_whatever_the_clocks_say,
                lists_of_different_moments_have_different_versions,
                level_and_list_stand_side_by_side,
                a_closed_sale_takes_no_list,
            ],
            operations: [
                switches_are_set_only_on_what_was_seen,
                a_write_is_noted_in_its_request_and_a_refused_one_is_not,
                blocks_end_by_time_or_by_hand,
                a_subject_has_one_block,
                writes_of_operators_leave_audit_rows,
                an_installation_keeps_its_id,
                a_ledger_answers,
            ],
        }
    };
    (@facts $fresh:path, $block_on:path, $($topic:ident: [$($fact:ident,)*],)*) => {
        $(mod $topic {
            $(#[test]
            fn $fact() {
                let (ledger, _outlives) = $fresh();
                $block_on(async {
                    $crate::conformance::$topic::$fact(&*ledger).await;
                    $crate::conformance::books::check(&*ledger).await;
                });
            })*
        })*
    };
}
