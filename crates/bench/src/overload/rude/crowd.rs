//! People who buy one unit each, with a key that stays the same however often they ask.

use std::io::Write as _;
use std::net::SocketAddr;

use crate::token::{Signer, UserIds};

/// Who they are, and what they want.
#[derive(Debug, Clone)]
pub(in crate::overload) struct Crowd {
    /// What they call the server.
    pub(in crate::overload) host: SocketAddr,
    /// What they buy of.
    pub(in crate::overload) activity_id: u64,
    /// Who signs their tokens.
    pub(in crate::overload) signer: Signer,
    /// Their ids, one after the other.
    pub(in crate::overload) users: UserIds,
}

impl Crowd {
    /// Writes what person `number` sends in the place of what is there.
    pub(super) fn write(&self, number: usize, request: &mut Vec<u8>) {
        let Self { host, activity_id, .. } = self;
        let user = self.users.clone().nth(number).expect("the ids have no end");
        let token = self.signer.token(&user);
        request.clear();
        write!(
            request,
            "POST /api/seckill/{activity_id} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
             Idempotency-Key: {user}\r\nContent-Length: 0\r\n\r\n"
        )
        .expect("memory takes it");
    }
}
