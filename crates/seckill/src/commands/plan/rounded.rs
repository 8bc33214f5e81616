//! Figures of a document without the rounding errors of divisions.

use serde_json::{Value, json};

/// Numbers to six places: what is behind them is the rounding error of a division.
pub(super) fn round(value: &mut Value) {
    match value {
        Value::Object(members) => members.values_mut().for_each(round),
        Value::Array(items) => items.iter_mut().for_each(round),
        Value::Number(number) if number.is_f64() => {
            let figure = number.as_f64().unwrap_or_default();
            *value = json!((figure * 1e6).round() / 1e6);
        }
        _ => {}
    }
}
