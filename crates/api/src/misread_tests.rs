//! Each kind of fault in a body, as it is told.

use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Ip,
    User,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Inner {
    level: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Body {
    open: bool,
    #[serde(default)]
    units: u64,
    ratio: Option<f64>,
    title: Option<String>,
    kind: Option<Kind>,
    inner: Option<Inner>,
}

fn check(body: &str, expect: &str) {
    let misread = read_object::<Body>(body.as_bytes()).expect_err(body);
    let said = match misread.field {
        Some(field) => format!("{field}: {}", misread.why),
        None => misread.why,
    };
    assert_eq!(said, expect, "{body}");
}

#[test]
fn a_value_of_the_wrong_kind_is_told_with_its_member_and_what_that_takes() {
    check(r#"{"open":"yes"}"#, "open: must be true or false");
    check(r#"{"open":null}"#, "open: must be true or false");
    check(r#"{"open":true,"units":-1}"#, "units: must be a whole number from 0 on");
    check(
        r#"{"open":true,"units":1.5}"#,
        "units: must be a whole number from 0 on",
    );
    check(r#"{"open":true,"ratio":"1"}"#, "ratio: must be a number");
    check(r#"{"open":true,"title":5}"#, "title: must be a text");
    check(r#"{"open":true,"inner":"x"}"#, "inner: must be an object");
    let level = |value: &str| format!(r#"{{"open":true,"inner":{{"level":{value}}}}}"#);
    check(&level("-3"), "inner.level: must be a whole number from 0 on");
    check(
        &level("4294967296"),
        "inner.level: must be a whole number up to 4294967295",
    );
}

#[test]
fn a_member_that_takes_words_says_which_whatever_stands_in_its_place() {
    for value in [r#""name""#, "5", "true", "[]"] {
        check(
            &format!(r#"{{"open":true,"kind":{value}}}"#),
            "kind: must be one of ip, user",
        );
    }
}

#[test]
fn what_was_sent_is_not_taken_for_what_is_wanted() {
    check(r#"{"open":"a, expected b"}"#, "open: must be true or false");
    check(
        r#"{"open":true,"kind":"a, expected `b`"}"#,
        "kind: must be one of ip, user",
    );
}

#[test]
fn members_that_are_unknown_missing_or_doubled_are_told_by_their_path() {
    let there_are = "there are open, units, ratio, title, kind, inner";
    check(
        r#"{"open":true,"unit":1}"#,
        &format!("unit: there is no such member; {there_are}"),
    );
    check("{}", "open: is missing");
    check(r#"{"open":true,"open":true}"#, "open: stands there twice");
    check(
        r#"{"open":true,"inner":{"min":1}}"#,
        "inner.min: there is no such member; there are level",
    );
}

#[test]
fn a_body_that_is_no_json_is_told_by_the_place_where_it_ends_to_be_any() {
    check("[]", "the body must be a JSON object");
    check(r#"{"open":tru}"#, "the body is not JSON from line 1, column 12 on");
    check(r#"{"open":true"#, "the body is not JSON from line 1, column 12 on");
    check("{\"open\":true}\n{}", "the body is not JSON from line 2, column 1 on");
}
