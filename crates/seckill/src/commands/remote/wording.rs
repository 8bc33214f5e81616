//! What an answer of the admin API says, for people.

use serde_json::Value;

/// An answer that is no success, in one line: status, code, sentence and, where it says more, the detail.
pub(super) fn said(status: u16, json: &Value) -> String {
    let text = |member: &str| json[member].as_str().unwrap_or_default();
    let (message, detail) = (text("message"), text("detail"));
    let parts = [message, if detail == message { "" } else { detail }];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{status} {}: {}", json["code"], parts.join(": "))
}

/// Whether the answer says that there is no such path: every path of these commands is one of an admin port.
pub(super) fn is_elsewhere(json: &Value) -> bool {
    json["code"].is_null() || json["detail"] == "nothing is at this path"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sentence_and_detail_of_an_answer_are_told_apart() {
        let json = json!({"code": 40000, "message": "Out of range", "detail": "ends_at: must lie after starts_at"});
        assert_eq!(
            said(400, &json),
            "400 40000: Out of range: ends_at: must lie after starts_at"
        );
        let same = json!({"code": 50300, "message": "Busy", "detail": "Busy"});
        assert_eq!(said(503, &same), "503 50300: Busy");
    }
}
