//! What each kind of value takes.

use super::*;

#[test]
fn lists_take_commas_in_text_and_arrays_in_files() {
    let two = Value::Networks(vec!["10.0.0.0/8".parse().unwrap(), "192.168.1.7/32".parse().unwrap()]);
    assert_eq!(Kind::Networks.read_text("10.1.2.3/8, 192.168.1.7"), Some(two.clone()));
    let array = toml::Value::Array(vec!["10.0.0.0/8".into(), "192.168.1.7".into()]);
    assert_eq!(Kind::Networks.read_toml(&array), Some(two));
    assert_eq!(Kind::Networks.read_toml(&"10.0.0.0/8".into()), None);
    assert_eq!(Kind::Networks.read_text(""), Some(Value::Networks(vec![])));
    assert_eq!(Kind::Networks.read_text("10.0.0.0/33"), None);
}

#[test]
fn origins_have_no_wildcard_and_no_path() {
    assert!(
        Kind::Origins
            .read_text("https://shop.example.com,http://localhost:5173")
            .is_some()
    );
    for text in [
        "*",
        "null",
        "https://*.example.com",
        "https://shop.example.com/a",
        "https://Shop.example.com",
        "shop.example.com",
    ] {
        assert_eq!(Kind::Origins.read_text(text), None, "{text}");
    }
}

#[test]
fn numbers_keep_to_their_bounds_and_their_type() {
    let kind = Kind::Whole { min: 1, max: 10 };
    assert_eq!(kind.read_text("10"), Some(Value::Whole(10)));
    for text in ["0", "11", "-1", "+1", "1.0", "", " 1", "ten", "18446744073709551616"] {
        assert_eq!(kind.read_text(text), None, "{text}");
    }
    assert_eq!(kind.read_toml(&toml::Value::Integer(-1)), None);
    assert_eq!(kind.read_toml(&toml::Value::String("5".to_owned())), None);
    assert_eq!(Kind::Switch.read_toml(&toml::Value::Integer(1)), None);
}
