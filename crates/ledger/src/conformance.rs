//! What every database must do. A database's tests call these with a factory of fresh ledgers.
