//! The gate, from the settings.

use seckill_gate::{
    AbuseRules, Authority, Expectations, Gate, Limit, Limits, Networks, PublicAlgorithm, Reach, Verifier, Verifiers,
};
use seckill_settings::{Identity, JwtKey, LimitScope, RateLimit, Settings};

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
        trusted_proxies: Networks::new(settings.server.trusted_proxies.iter().copied()),
        exempt: Networks::new(settings.limits.exempt.iter().copied()),
        limits: limits(settings)?,
        reach: match settings.limits.scope {
            LimitScope::Node => Reach::Node,
            LimitScope::Cluster => Reach::Cluster,
        },
        abuse: abuse(settings)?,
        table_slots: settings.limits.table_slots,
        purchase_token_secret,
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

fn authority(settings: &Settings) -> Result<Authority, Failure> {
    let expectations = Expectations {
        audience: settings.auth.audience.clone(),
        issuer: settings.auth.issuer.clone(),
        leeway_s: u32::try_from(settings.auth.leeway.as_secs()).unwrap_or(u32::MAX),
    };
    let verifier = match settings.require_auth()? {
        Identity::Gateway => return Ok(Authority::Gateway),
        Identity::Jwt(JwtKey::Secret(secret)) => Verifier::hs256(secret.reveal().as_bytes(), &expectations),
        Identity::Jwt(JwtKey::Public(key)) => {
            let algorithm = match key.algorithm {
                seckill_settings::PublicAlgorithm::Rs256 => PublicAlgorithm::Rs256,
                seckill_settings::PublicAlgorithm::Es256 => PublicAlgorithm::Es256,
                seckill_settings::PublicAlgorithm::EdDsa => PublicAlgorithm::EdDsa,
            };
            Verifier::public_key(algorithm, &key.pem, &expectations)
        }
    };
    let verifier = verifier.map_err(|error| Failure::usage(format!("auth: {}", chain(&error))))?;
    Ok(Authority::Tokens(Verifiers::new(verifier, TOKEN_CACHE_ENTRIES)))
}

fn limits(settings: &Settings) -> Result<Limits, Failure> {
    let limits = &settings.limits;
    Ok(Limits {
        ip: limit("limits.ip", limits.ip)?,
        network: limit("limits.network", limits.network)?,
        user: limit("limits.user", limits.user)?,
        device: limit("limits.device", limits.device)?,
        read: limit("limits.read", limits.read)?,
        activity: limit("limits.activity", limits.activity)?,
        node: limit("limits.node", limits.node)?,
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
