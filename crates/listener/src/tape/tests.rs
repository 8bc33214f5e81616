//! The tape follows a stream, however it is split, and tells ambiguous heads.

use super::*;

#[track_caller]
fn check(head: &str, expect: Result<(), Ambiguity>) {
    let mut tape = Tape::default();
    tape.record(head.as_bytes());
    assert_eq!(tape.take_head(Framing::Length(0)), expect, "{head:?}");
}

#[test]
fn ambiguous_heads_are_told_apart() {
    check("GET / HTTP/1.1\r\nHost: a\r\n\r\n", Ok(()));
    check("\r\n\r\nGET / HTTP/1.1\r\n\r\n", Ok(()));
    check(
        "P / HTTP/1.1\r\nContent-Length: 0\r\nContent-Lengthy: 1\r\n\r\n",
        Ok(()),
    );
    check("P / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", Ok(()));
    check(
        "P / HTTP/1.1\r\ncontent-length: 5\r\nCONTENT-LENGTH: 5\r\n\r\n",
        Err(Ambiguity::LengthTwice),
    );
    check(
        "P / HTTP/1.1\r\nContent-Length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
        Err(Ambiguity::LengthAndChunked),
    );
    check(
        "P / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-length: 5\r\n\r\n",
        Err(Ambiguity::LengthAndChunked),
    );
    for encoding in ["gzip, chunked", "chunked, chunked", "identity", "xchunked", ""] {
        let head = format!("P / HTTP/1.1\r\nTransfer-Encoding: {encoding}\r\n\r\n");
        check(&head, Err(Ambiguity::OtherEncoding));
    }
    check("GET / HTTP/1.1\nHost: a\r\n\r\n", Err(Ambiguity::BareLineFeed));
    check("GET / HTTP/1.1\r\nHost: a\r\n\n", Err(Ambiguity::BareLineFeed));
}

#[test]
fn bodies_are_skipped_however_they_are_split() {
    let stream = b"P / HTTP/1.1\r\nContent-Length: 9\r\n\r\nline\nbodyGET / HTTP/1.1\r\n\r\n";
    for split in 35..stream.len() {
        let mut tape = Tape::default();
        tape.record(&stream[..split]);
        assert_eq!(tape.take_head(Framing::Length(9)), Ok(()));
        assert_eq!(tape.awaits_body(), split < 44, "split at {split}");
        tape.record(&stream[split..]);
        assert!(!tape.awaits_body());
        assert_eq!(tape.take_head(Framing::Length(0)), Ok(()), "split at {split}");
        assert!(tape.bytes.is_empty());
    }
}

#[test]
fn request_behind_a_chunked_body_is_not_trusted() {
    let mut tape = Tape::default();
    tape.record(b"P / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n");
    assert_eq!(tape.take_head(Framing::Chunked), Ok(()));
    assert!(tape.awaits_body());
    assert_eq!(tape.take_head(Framing::Length(0)), Err(Ambiguity::Unseen));
}

#[test]
fn a_flood_of_bytes_is_not_kept() {
    let mut tape = Tape::default();
    for _ in 0..3 {
        tape.record(&vec![b'a'; KEPT_BYTES_MAX / 2]);
    }
    assert!(tape.bytes.is_empty());
    assert_eq!(tape.take_head(Framing::Length(0)), Err(Ambiguity::Unseen));
}
