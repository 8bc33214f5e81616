//! What every stock engine must do. An engine's tests call [`all`] with a factory of fresh stores.
