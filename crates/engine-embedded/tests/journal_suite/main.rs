//! The journal on real folders and on a simulated disk: what it keeps, what it cuts, what it refuses.

mod damage;
mod faults;
mod fixture;
mod lock;
mod power_loss;
mod simulation;
mod start;
