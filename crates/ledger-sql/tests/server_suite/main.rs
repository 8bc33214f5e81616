//! The ledger on real servers, beyond what every ledger must do.

mod beside;
mod examined;
mod faults;
mod frozen;
mod outages;
mod reading;
mod sharing;

macro_rules! on_each_server {
    ($($topic:ident: [$($fact:ident,)*],)*) => {
        mod postgres {
            $($(#[test]
            fn $fact() {
                crate::$topic::$fact::<seckill_testkit::PostgresServer>();
            })*)*
        }

        mod mariadb {
            $($(#[test]
            fn $fact() {
                crate::$topic::$fact::<seckill_testkit::MariaDbServer>();
            })*)*
        }
    };
}

#[test]
fn a_server_that_may_lose_what_it_wrote_is_told_of() {
    use seckill_sale::{Severity, SystemClock};
    let database = seckill_testkit::Postgres::fresh();
    let cautions = |url: &str| {
        let options = seckill_ledger_sql::ServerOptions::default();
        drop(seckill_ledger_sql::Server::open(url, options).expect("a good database"));
        let found = seckill_ledger_sql::Server::findings(url, options, &SystemClock).expect("an address");
        let bad = found.into_iter().filter(|finding| finding.severity != Severity::Passed);
        bad.map(|finding| (finding.area, finding.sentence)).collect::<Vec<_>>()
    };
    assert_eq!(cautions(&database.url()), []);
    let careless = cautions(&format!("{}%20-csynchronous_commit%3Doff", database.url()));
    let (area, sentence) = &careless[0];
    assert_eq!((*area, careless.len()), ("durability", 1));
    assert!(
        sentence.starts_with("the database's synchronous_commit is \"off\""),
        "{careless:?}"
    );
    let mariadb = seckill_testkit::MariaDb::fresh();
    assert_eq!(cautions(&mariadb.url()), []);
}

/// As it is by default since MariaDB 11.6: who reads a row that changed since its snapshot and then changes it is undone.
#[test]
fn a_server_that_isolates_snapshots_undoes_and_nobody_notices() {
    faults::many_at_once(&seckill_testkit::MariaDb::alone(&["innodb-snapshot-isolation=ON"]));
}

on_each_server! {
    faults: [
        the_outcome_of_a_commit_without_an_answer_is_unknown_and_the_batch_is_written_once,
        connections_that_died_idle_are_made_anew,
        a_lock_that_is_held_is_an_outage_that_leaves_nothing_and_heals,
        many_at_once_come_in_nobodys_way_for_good,
        two_that_migrate_at_once_both_come_up,
        a_database_of_a_newer_version_or_of_another_program_is_refused,
        a_server_that_is_not_there_is_an_outage,
    ],
    frozen: [
        what_a_person_has_given_up_is_not_written_when_the_lock_is_let_go,
        a_worker_that_stands_still_is_undone_and_settles_again_when_it_goes_on,
        who_is_not_let_in_hears_why_at_once_and_not_his_password,
    ],
    sharing: [
        pools_that_share_three_connections_all_get_their_turn,
    ],
    outages: [
        a_killed_server_is_an_outage_until_it_is_back,
        a_server_that_only_reads_is_an_outage,
        few_connections_that_are_cut_again_and_again_only_delay,
        callers_who_go_away_leave_no_transaction_open,
    ],
    beside: [
        batches_that_overlap_in_reverse_all_get_through,
        a_batch_that_finds_units_short_settles_what_fits,
        a_locked_sale_does_not_keep_another_from_being_written,
        orders_are_what_was_deducted_at_every_moment,
        an_order_number_that_is_taken_rejects_its_batch_alone,
    ],
    examined: [
        what_the_tables_lost_is_named_with_what_makes_it_again,
        a_good_database_passes_and_an_empty_one_is_to_be_migrated,
        too_few_connections_and_a_wrong_clock_are_told_of,
        a_server_that_is_not_there_is_a_finding,
    ],
    reading: [
        pages_and_sweeps_read_what_they_show_and_not_the_table,
    ],
}
