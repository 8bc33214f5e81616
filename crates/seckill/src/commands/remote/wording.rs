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

/// What a request is about, where that is one thing that may not be there: named by its path, or by its body.
pub(super) fn asked_for(path: &str, body: &[u8]) -> Option<String> {
    let path = path.split('?').next().unwrap_or_default();
    let mut steps = path.strip_prefix("/admin/api/")?.split('/');
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let member = |name: &str| match &body[name] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    match (steps.next()?, steps.next()) {
        ("activities", Some(id)) => Some(format!("activity {id}")),
        ("products", Some(id)) => Some(format!("product {id}")),
        ("blocks", Some(id)) => Some(format!("block {id}")),
        ("dead-letters", Some(id)) => Some(format!("dead letter {id}")),
        ("activities", None) => Some(format!("product {}", member("product_id")?)),
        ("blocks", None) => Some(format!("{} {}", member("kind")?, member("value")?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_there_is_named_by_what_was_asked_for() {
        let of = |path: &str, body: &str| asked_for(path, body.as_bytes()).unwrap_or_default();
        assert_eq!(of("/admin/api/activities/9/add-stock", "{}"), "activity 9");
        assert_eq!(of("/admin/api/dead-letters/9/retry", "{}"), "dead letter 9");
        assert_eq!(of("/admin/api/activities", r#"{"product_id":9}"#), "product 9");
        let user = r#"{"kind":"user","value":"mallory"}"#;
        assert_eq!(of("/admin/api/blocks", user), "user mallory");
        assert_eq!(of("/admin/api/audit-rows?limit=500", ""), "");
    }

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
