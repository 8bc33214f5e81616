//! Texts of user ids, whatever the parts in which they come.

use super::*;

/// Number of users, or the sentence of the refusal, whatever the parts in which the text comes.
fn read(text: &[u8], users_max: usize) -> Result<usize, String> {
    let in_parts_of = |size: usize| {
        let mut lines = Lines {
            users_max,
            ..Lines::new([0; 16])
        };
        let pushed = text.chunks(size).try_for_each(|part| lines.push(part));
        let list = pushed.and_then(|()| lines.into_list());
        list.map(|list| list.bytes.len() / 8).map_err(|error| error.to_string())
    };
    let whole = in_parts_of(text.len().max(1));
    for size in 1..text.len().min(9) {
        assert_eq!(in_parts_of(size), whole, "in parts of {size}");
    }
    whole
}

#[test]
fn lines_are_users_however_they_end_and_come() {
    for text in ["a\nb\nc", "a\nb\nc\n", "a\r\nb\r\nc\r\n"] {
        assert_eq!(read(text.as_bytes(), 3), Ok(3), "{text:?}");
    }
    let longest = "x".repeat(64);
    assert_eq!(read(format!("{longest}\n{longest}").as_bytes(), 2), Ok(2));
}

#[test]
fn bad_line_is_named_and_nothing_is_taken() {
    for (text, expect) in [
        ("a\n\nb", "line 2: is no user id"),
        ("a\nb c\nd", "line 2: is no user id"),
        ("\u{feff}a", "line 1: is no user id"),
        ("a\nb\nc\nd\n", "line 4: is one more than a list may have"),
        ("", "body: must name at least one user; DELETE takes a list away"),
    ] {
        assert_eq!(read(text.as_bytes(), 3), Err(expect.to_owned()), "{text:?}");
    }
    let long = "x".repeat(65);
    assert_eq!(
        read(format!("a\n{long}").as_bytes(), 3),
        Err("line 2: is no user id".to_owned())
    );
    assert_eq!(read(b"a\n\xff\n", 3), Err("line 2: is no user id".to_owned()));
    let endless = vec![b'x'; 10_000];
    assert_eq!(read(&endless, 3), Err("line 1: is too long".to_owned()));
}

#[test]
fn salts_differ() {
    assert_ne!(salt(), salt());
}
