//! What every queue engine must do, on top of a stock engine that fills it. An engine's tests call these with a factory of fresh stores.
