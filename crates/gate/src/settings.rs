//! What a gate is made of.

use crate::{AbuseRules, Clients, DeviceRule, Limits, Networks, RateLimiting, Switches, Verifiers};

/// Where identities come from.
#[derive(Debug)]
pub enum Authority {
    /// Signed tokens.
    Tokens(Verifiers),
    /// `X-User-Id`, from trusted proxies only.
    Gateway,
}

/// What a gate is made of.
#[derive(Debug)]
pub struct Settings {
    /// Where identities come from.
    pub authority: Authority,
    /// Who may sign requests for others.
    pub clients: Clients,
    /// Proxies whose `X-Forwarded-For`, and in gateway mode `X-User-Id`, count.
    pub trusted_proxies: Networks,
    /// Networks without address and device limit.
    pub exempt: Networks,
    /// Limits, where no switch says otherwise.
    pub limits: Limits,
    /// Who counts users and devices.
    pub rate_limiting: RateLimiting,
    /// When refusals become blocks.
    pub abuse: AbuseRules,
    /// Places in each table that counts addresses, users, devices or readers, 8 bytes each.
    pub table_slots: usize,
    /// Secret of purchase tokens, the same on every node.
    pub purchase_token_secret: [u8; 32],
    /// Which devices count.
    pub devices: DeviceRule,
    /// Work that is asked for where a sale asks for work, in zero bits of a hash.
    pub pow_bits: u8,
    /// Switches at the start.
    pub switches: Switches,
}
