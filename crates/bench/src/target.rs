//! Where the load goes: a running server, or several that sell the same.

use std::net::SocketAddr;

use crate::Result;
use crate::admin::Admin;
use crate::server::TOKEN_TTL_S;
use crate::token::Signer;

/// Where a running server is and how to speak with it: the same for one of our children and for somebody else's.
#[derive(Debug, Clone)]
pub struct Target {
    /// The public port.
    pub public: SocketAddr,
    /// Public ports of other processes that sell the same: buyers come to all of them.
    pub others: Vec<SocketAddr>,
    /// The admin port, with its token.
    pub admin: Admin,
    /// Admin ports of other processes, whose figures belong to the whole.
    pub other_admins: Vec<Admin>,
    /// Signs tokens of users.
    pub signer: Signer,
}

impl Target {
    /// A server that is already running.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for URLs that can't be put under load.
    pub fn running(public_url: &str, admin_url: &str, admin_token: &str, jwt_secret: &[u8]) -> Result<Self> {
        Ok(Self::of(
            crate::address::address_of(public_url)?,
            Admin::new(crate::address::address_of(admin_url)?, admin_token),
            Signer::expiring_in(jwt_secret, TOKEN_TTL_S),
        ))
    }

    /// Public ports of all processes.
    pub(crate) fn nodes(&self) -> Vec<SocketAddr> {
        std::iter::once(self.public)
            .chain(self.others.iter().copied())
            .collect()
    }

    /// One process.
    pub(crate) const fn of(public: SocketAddr, admin: Admin, signer: Signer) -> Self {
        Self {
            public,
            others: Vec::new(),
            admin,
            other_admins: Vec::new(),
            signer,
        }
    }
}
