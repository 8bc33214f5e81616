//! The queries of the ledger, one text for all databases. This folder is compiled once for each driver, so that SQLite's blocking
//! calls stay plain calls: `db` is the driver, `dialect` what the database says in its own way, `Database` what implements the contract.
//!
//! SQLite's `?1` stands for the first parameter everywhere; whatever is read before it is changed is locked by `dialect` first.

mod activities;
mod activity_changes;
mod admin;
mod blocks;
mod catalog;
mod dead_letters;
mod eligible;
mod endings;
mod inserts;
mod movements;
mod offer;
mod operations;
mod orders;
mod pages;
mod parking;
mod pauses;
mod payments;
mod products;
mod records;
mod returns;
mod rows;
mod schedules;
mod settlement;
mod stock;
mod tally;

use super::{Database, Lane, db, dialect, errors};
