//! The router over a real store and a real database, with a clock that moves only when told to.

mod access;
mod after_the_write;
mod blocks;
mod books;
mod brake;
mod brake_hanging;
mod check;
mod check_layers;
mod check_nodes;
mod eligibility;
mod eligibility_lists;
#[path = "../../../engine-embedded/tests/shared/running.rs"]
mod engine;
mod errors;
mod every_command;
#[path = "../../../ledger-sql/tests/shared/failing.rs"]
mod failing;
#[path = "../../../engine-embedded/tests/shared/hanging.rs"]
mod hanging;
mod house;
mod idempotency;
mod input;
mod input_forms;
mod input_sales;
mod lists;
mod live;
mod night;
mod nodes;
mod openapi;
mod openapi_answers;
mod openapi_document;
mod openapi_errors;
mod openapi_night;
mod pages;
mod recovery;
mod request;
mod restored;
mod restored_cut_off;
mod sales;
mod setup;
mod stuck;
mod tap;
mod tap_cut_off;
mod tap_for_a_while;
mod tap_kept;
mod tap_later_version;
mod tap_lost;
mod tap_reopened;
mod tap_waiting;
