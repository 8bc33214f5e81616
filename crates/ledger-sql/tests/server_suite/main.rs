//! The ledger on real servers, beyond what every ledger must do.

mod faults;

macro_rules! on_each_server {
    ($($fact:ident,)*) => {
        mod postgres {
            $(#[test]
            fn $fact() {
                crate::faults::$fact::<seckill_testkit::PostgresServer>();
            })*
        }

        mod mariadb {
            $(#[test]
            fn $fact() {
                crate::faults::$fact::<seckill_testkit::MariaDbServer>();
            })*
        }
    };
}

#[test]
fn a_server_that_may_lose_what_it_wrote_is_told_of() {
    let database = seckill_testkit::Postgres::fresh();
    let cautions = |url: &str| {
        let server = seckill_ledger_sql::Server::open(url, seckill_ledger_sql::ServerOptions::default());
        server.expect("a good database").cautions().to_vec()
    };
    assert_eq!(cautions(&database.url()), [""; 0]);
    let careless = cautions(&format!("{}%20-csynchronous_commit%3Doff", database.url()));
    assert!(
        careless[0].starts_with("the database's synchronous_commit is \"off\""),
        "{careless:?}"
    );
    assert_eq!(careless.len(), 1);
    let mariadb = seckill_testkit::MariaDb::fresh();
    assert_eq!(cautions(&mariadb.url()), [""; 0]);
}

on_each_server! {
    a_commit_without_an_answer_is_an_outage_and_the_batch_is_written_once,
    connections_that_died_idle_are_made_anew,
    a_lock_that_is_held_is_an_outage_that_leaves_nothing_and_heals,
    many_at_once_come_in_nobodys_way_for_good,
    two_that_migrate_at_once_both_come_up,
    a_database_of_a_newer_version_or_of_another_program_is_refused,
    a_server_that_is_not_there_is_an_outage,
}
