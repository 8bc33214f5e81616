//! The journal on real folders and on a simulated disk: what it keeps, what it cuts, what it refuses.

mod fixture;
mod start;
