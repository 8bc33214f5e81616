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
        list.map(|list| list.looked_up.users().expect("a list of users"))
            .map_err(|error| error.to_string())
    };
    let whole = in_parts_of(text.len().max(1));
    for size in 1..text.len().min(9) {
        assert_eq!(in_parts_of(size), whole, "in parts of {size}");
    }
    whole
}

#[test]
fn lines_are_users_however_they_end_and_come() {
    for text in ["a\nb\nc", "a\nb\nc\n", "a\r\nb\r\nc\r\n", "\u{feff}a\r\nb\nc"] {
        assert_eq!(read(text.as_bytes(), 3), Ok(3), "{text:?}");
    }
    let longest = ["x", "y"].map(|letter| letter.repeat(64)).join("\n");
    assert_eq!(read(longest.as_bytes(), 2), Ok(2));
    assert_eq!(read(b"a\na\nb", 3), Ok(2), "who stands there twice counts once");
}

#[test]
fn bad_line_is_named_and_nothing_is_taken() {
    for (text, expect) in [
        ("a\n\nb", "line 2: is no user id"),
        ("a\nb c\nd", "line 2: is no user id"),
        ("\u{feff}\u{feff}a", "line 1: is no user id"),
        ("a\n\u{feff}b", "line 2: is no user id"),
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
fn what_is_kept_is_in_order_and_names_nobody_twice() {
    let mut lines = Lines::new([7; 16]);
    let text: String = (0..200).map(|n| format!("user-{}\n", n % 100)).collect();
    lines.push(text.as_bytes()).expect("user ids");
    let kept = lines.into_list().expect("a list").kept;
    let (fingerprints, rest) = kept.bytes.as_chunks::<8>();
    assert_eq!((fingerprints.len(), rest.len()), (100, 0));
    assert!(fingerprints.is_sorted());
}
