//! The binary from outside: real processes, real sockets, a real disk.

mod activity_command;
mod admin_places;
mod after_storm;
mod alerts;
mod audit;
mod audit_rows_command;
mod behind_nginx;
mod brake;
mod by_hand;
mod challenge;
mod check;
mod check_nodes;
mod check_servers;
mod cleaning;
mod command_keys;
mod command_line;
mod crash;
mod cut_off;
mod database_servers;
mod demo;
mod deploy;
mod disaster;
mod distributed;
mod documents;
mod eligibility;
mod eligible_command;
mod everywhere;
mod exit_codes;
mod failover;
mod fenced;
mod forgetful;
mod halfway;
mod hanging;
mod hostile;
mod hot;
mod identity;
mod in_flight;
mod interrupted;
mod live;
mod live_nodes;
mod locked_rows;
mod losses;
mod measuring;
mod newcomer;
mod outage;
mod product_command;
mod purchase;
mod push;
mod race;
mod restore;
mod restored;
mod rolling;
mod routes;
mod rush;
mod shared_limits;
mod shop;
mod shutdown;
mod standstill;
mod start;
mod start_hanging;
mod stopped;
mod storm;
mod strangers;
mod tap;
mod tap_command;
mod tap_frozen;
mod tap_overload;
mod unsafe_databases;
mod unsafe_servers;

use seckill_testkit::Program;

/// The program under test.
fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_seckill"))
}
