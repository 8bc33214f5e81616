//! The binary from outside: real processes, real sockets, a real disk.

mod after_storm;
mod alerts;
mod audit;
mod behind_nginx;
mod brake;
mod by_hand;
mod check;
mod check_servers;
mod cleaning;
mod command_line;
mod crash;
mod database_servers;
mod demo;
mod deploy;
mod disaster;
mod distributed;
mod documents;
mod everywhere;
mod failover;
mod forgetful;
mod hanging;
mod hostile;
mod live;
mod live_nodes;
mod locked_rows;
mod losses;
mod measuring;
mod newcomer;
mod outage;
mod purchase;
mod push;
mod race;
mod restore;
mod rolling;
mod routes;
mod rush;
mod shop;
mod shutdown;
mod start;
mod start_hanging;
mod stopped;
mod storm;
mod unsafe_databases;
mod unsafe_servers;

use seckill_testkit::Program;

/// The program under test.
fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_seckill"))
}
