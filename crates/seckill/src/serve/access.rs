//! The gate, from the settings.

use seckill_gate::{
    AbuseRules, Authority, Clients, DeviceRule, Expectations, Gate, Limit, Limits, Networks, PerLimit, PublicAlgorithm,
    RateLimiting, RequiredClaim, Verifier, Verifiers,
};
use seckill_settings::{Identity, JwtKey, RateLimit, Settings};

use super::key_file;
use crate::exit::{Failure, chain};

/// Cached verified tokens.
const TOKEN_CACHE_ENTRIES: usize = seckill_gate::TOKEN_CACHE_ENTRIES_DEFAULT;

/// Makes the gate.
pub(crate) fn gate(
    settings: &Settings,
    purchase_token_secret: [u8; 32],
    switches: seckill_gate::Switches,
) -> Result<Gate, Failure> {
    Ok(Gate::new(seckill_gate::Settings {
        authority: authority(settings)?,
        clients: clients(settings),
        trusted_proxies: Networks::new(settings.server.trusted_proxies.iter().copied()),
        exempt: Networks::new(settings.limits.exempt.iter().copied()),
        limits: limits(settings)?,
        rate_limiting: match settings.limits.rate_limiting {
            seckill_settings::RateLimiting::Local => RateLimiting::Local,
            seckill_settings::RateLimiting::Global => RateLimiting::Global,
        },
        abuse: abuse(settings)?,
        table_slots: settings.limits.table_slots,
        purchase_token_secret,
        devices: match settings.auth.devices {
            seckill_settings::DeviceRule::Named => DeviceRule::Named,
            seckill_settings::DeviceRule::Signed => DeviceRule::Signed,
        },
        pow_bits: settings.challenge.pow_bits,
        switches,
    }))
}

/// Whether a gate can be made with these settings.
pub(crate) fn check(settings: &Settings) -> Result<(), Failure> {
    authority(settings)?;
    abuse(settings)?;
    limits(settings).map(drop)
}

/// What tokens must say.
pub(crate) fn expectations(settings: &Settings) -> Expectations {
    let auth = &settings.auth;
    let required = auth.required_claims.iter();
    Expectations {
        audience: auth.audience.clone(),
        issuer: auth.issuer.clone(),
        leeway_s: u32::try_from(auth.leeway.as_secs()).unwrap_or(u32::MAX),
        required: required.filter_map(|claim| RequiredClaim::parse(claim)).collect(),
        level_claim: auth.level_claim.clone(),
    }
}

pub(crate) const fn algorithm(named: seckill_settings::PublicAlgorithm) -> PublicAlgorithm {
    match named {
        seckill_settings::PublicAlgorithm::Rs256 => PublicAlgorithm::Rs256,
        seckill_settings::PublicAlgorithm::Es256 => PublicAlgorithm::Es256,
        seckill_settings::PublicAlgorithm::EdDsa => PublicAlgorithm::EdDsa,
    }
}

fn authority(settings: &Settings) -> Result<Authority, Failure> {
    let expectations = expectations(settings);
    let previous = settings.auth.previous.as_ref();
    let verifier = match settings.require_auth()? {
        Identity::Gateway => return Ok(Authority::Gateway),
        Identity::Jwt(JwtKey::Secret(secret)) => {
            let previous = match previous {
                Some(JwtKey::Secret(previous)) => Some(previous.reveal().as_bytes()),
                _ => None,
            };
            Verifier::hs256_beside(secret.reveal().as_bytes(), previous, &expectations)
        }
        Identity::Jwt(JwtKey::Public(key)) => {
            let previous = match previous {
                Some(JwtKey::Public(previous)) => Some(previous.pem.as_str()),
                _ => None,
            };
            let pems: Vec<&str> = std::iter::once(key.pem.as_str()).chain(previous).collect();
            Verifier::public_keys(algorithm(key.algorithm), &pems, &expectations)
        }
        Identity::Jwt(JwtKey::File(file)) => {
            let read = key_file::read(file, &expectations);
            let verifier =
                read.map_err(|why| Failure::usage(format!("auth.jwks_file {}: {why}", file.path.display())))?;
            return Ok(Authority::Tokens(Verifiers::new(verifier, TOKEN_CACHE_ENTRIES)));
        }
    };
    let verifier = verifier.map_err(|error| Failure::usage(format!("auth: {}", chain(&error))))?;
    Ok(Authority::Tokens(Verifiers::new(verifier, TOKEN_CACHE_ENTRIES)))
}

fn clients(settings: &Settings) -> Clients {
    let clients = settings.clients.iter();
    Clients::new(clients.map(|client| (client.name.as_str(), client.secret.reveal().as_bytes())))
}

fn limits(settings: &Settings) -> Result<Limits, Failure> {
    let limits = &settings.limits;
    Ok(Limits {
        buy: PerLimit {
            ip: limit("limits.ip", limits.ip)?,
            network: limit("limits.network", limits.network)?,
            user: limit("limits.user", limits.user)?,
            device: limit("limits.device", limits.device)?,
            activity: limit("limits.activity", limits.activity)?,
            node: limit("limits.node", limits.node)?,
        },
        read: limit("limits.read", limits.read)?,
    })
}

fn abuse(settings: &Settings) -> Result<AbuseRules, Failure> {
    let abuse = &settings.abuse;
    Ok(AbuseRules {
        ip: limit("abuse.ip", abuse.ip)?,
        user: limit("abuse.user", abuse.user)?,
        device: limit("abuse.device", abuse.device)?,
        block_for_ms: super::node::millis(abuse.block_for),
    })
}

/// Settings and gate share the grammar of a limit.
fn limit(key: &str, limit: RateLimit) -> Result<Limit, Failure> {
    limit
        .to_string()
        .parse()
        .map_err(|error| Failure::usage(format!("{key}: {error}")))
}
