//! A WebSocket of which every byte can be said: frames that no library would send.

use seckill_testkit::{Server, Wire};
use serde_json::Value;

use super::stage::request;

const HANDSHAKE: [&str; 4] = [
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version: 13",
];

/// First bytes of frames: whole ones of a kind; those of a message in several lack [`FIN`].
pub(super) const FIN: u8 = 0x80;
pub(super) const CONTINUATION: u8 = 0;
pub(super) const TEXT: u8 = 1;
pub(super) const BINARY: u8 = 2;
pub(super) const CLOSE: u8 = 8;
pub(super) const PING: u8 = 9;
pub(super) const PONG: u8 = 10;

/// Says of a frame that it is masked, as all of a client's must be.
const MASKED: u8 = 0x80;

/// A frame of a client that says to have so many bytes and has none of them. Its mask is zero, which leaves bytes as they are.
pub(super) fn announced(first: u8, bytes: u64) -> Vec<u8> {
    let mut frame = vec![first];
    match (u8::try_from(bytes), u16::try_from(bytes)) {
        (Ok(bytes @ ..126), _) => frame.push(MASKED | bytes),
        (_, Ok(bytes)) => {
            frame.push(MASKED | 126);
            frame.extend(bytes.to_be_bytes());
        }
        _ => {
            frame.push(MASKED | 127);
            frame.extend(bytes.to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame
}

/// A frame of a client.
pub(super) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = announced(first, u64::try_from(payload.len()).expect("fits"));
    frame.extend_from_slice(payload);
    frame
}

/// An open WebSocket.
pub(super) struct Socket(pub(super) Wire);

impl Socket {
    /// Opens one with these header lines besides; else status and code of the refusal.
    pub(super) fn open(server: &Server, path: &str, lines: &[&str]) -> Result<Self, (u16, i64)> {
        let mut wire = Wire::open(server.public).expect("it listens");
        let lines: Vec<_> = HANDSHAKE.iter().chain(lines).copied().collect();
        wire.send(request("GET", path, &lines, "")).expect("sent");
        let head = wire.head().expect("an answer");
        if head.status == 101 {
            return Ok(Self(wire));
        }
        let body = wire.take(head.header("content-length").parse().expect("a length"));
        let json: Value = serde_json::from_slice(&body.expect("a body")).expect("JSON");
        Err((head.status, json["code"].as_i64().expect("a code")))
    }

    /// Sends what may be more than the server takes before it closes.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        let _closed = self.0.send(bytes);
    }

    /// First byte and payload of the next frame; none where the connection ends before a whole one.
    pub(super) fn frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let head = self.0.take(2)?;
        let length = match head[1] {
            126 => {
                let length = self.0.take(2)?;
                usize::from(u16::from_be_bytes([length[0], length[1]]))
            }
            short @ ..126 => usize::from(short),
            long => panic!("a masked or very long frame of a server: {long}"),
        };
        Some((head[0], self.0.take(length)?))
    }

    /// The next message of the server, whose pings are answered until then; none where it closes.
    pub(super) fn message(&mut self) -> Option<Value> {
        loop {
            match self.frame()? {
                (first, payload) if first == FIN | PING => self.send(&frame(FIN | PONG, &payload)),
                (first, payload) if first == FIN | TEXT => {
                    return Some(serde_json::from_slice(&payload).expect("JSON"));
                }
                (first, _) if first == FIN | CLOSE => return None,
                (first, _) if first == FIN | PONG => {}
                (first, _) => panic!("a frame that begins with {first:#x}"),
            }
        }
    }

    /// Code and reason with which the server closes, once it has closed the connection behind them; none where the connection ends without.
    /// What it says before is passed over.
    ///
    /// # Panics
    /// Where it goes on after several of its own pings.
    pub(super) fn closed(mut self) -> Option<(u16, String)> {
        let mut pings = 0;
        loop {
            let (first, payload) = self.frame()?;
            pings += usize::from(first == FIN | PING);
            assert!(pings < 4, "it goes on");
            if first == FIN | CLOSE {
                while let Some((first, _)) = self.frame() {
                    assert_eq!(first, FIN | PONG, "what may still be said behind a close");
                }
                let code = u16::from_be_bytes([payload[0], payload[1]]);
                return Some((code, String::from_utf8(payload[2..].to_vec()).expect("text")));
            }
        }
    }
}
