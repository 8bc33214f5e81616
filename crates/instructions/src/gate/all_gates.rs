//! A purchase at a gate of which every check is on: all limits, rules of abuse, a list of users, signed devices, and a purchase token.

use seckill_gate::{EligibleUsers, fingerprint};

use super::*;

/// Users on the list, besides the visitors.
const LISTED_OTHERS: u64 = 100_000;
const SALT: [u8; 16] = [5; 16];

/// Whether a user is on a list of a hundred thousand.
pub(crate) fn eligible(operations: usize) -> anyhow::Result<Prepared> {
    let list = list(operations);
    let users: Vec<UserId> = (0..operations as u64).map(user).collect();
    Ok(visits([], operations, move |n| list.has(&users[n])))
}

/// By buyers whose tokens were seen before.
pub(crate) fn all_gates(operations: usize) -> anyhow::Result<Prepared> {
    let gate = gate_of(
        |settings| {
            settings.limits.buy.network = "1000/s burst 10000".parse().expect("a limit");
            settings.limits.buy.activity = "100000/s burst 100000".parse().expect("a limit");
            settings.limits.buy.node = "100000/s burst 100000".parse().expect("a limit");
            settings.abuse = AbuseRules {
                ip: "50/s burst 500".parse().expect("a limit"),
                user: "10/s burst 100".parse().expect("a limit"),
                device: "10/s burst 100".parse().expect("a limit"),
                block_for_ms: 600_000,
            };
            settings.devices = DeviceRule::Signed;
        },
        |activity| {
            activity.challenge = Challenge::Token;
            activity.eligibility.list = Some(1);
        },
    )?;
    for n in 0..10 {
        gate.eligible().put(activity(n), &Arc::new(list(operations)));
    }
    let mut visitors = visitors(operations)?;
    let mut tokens = Vec::with_capacity(operations);
    for (n, visitor) in visitors.iter_mut().enumerate() {
        visitor.headers.remove(DEVICE_HEADER);
        let (device, token) = first_sight(&gate, visitor, n as u128)?;
        visitor.headers.insert(DEVICE_HEADER, HeaderValue::try_from(device)?);
        tokens.push(token);
    }
    Ok(visits([], operations, move |n| {
        purchases::purchase(&gate, &visitors[n], Some(&tokens[n])).is_ok()
    }))
}

/// The name of a visitor's device, and his purchase token on it.
fn first_sight(gate: &Gate, visitor: &Visitor, random: u128) -> anyhow::Result<(String, String)> {
    let identified = gate.admit_read(purchases::request(visitor), MOMENT);
    let identified = identified.ok().context("the visitor is known")?;
    let device = gate.new_device(&identified, random).context("a device is signed")?;
    let identified = identified.on_device(&device);
    match gate.admit_token(&identified, token_wish(None, 7), MOMENT) {
        Ok(TokenStep::Issued(token)) => Ok((device.clone(), token.text)),
        _ => bail!("no token is issued"),
    }
}

fn list(visitors: usize) -> EligibleUsers {
    let others = (0..LISTED_OTHERS).map(|n| user(u64::from(u32::MAX) + n));
    let all = (0..visitors as u64).map(user).chain(others);
    EligibleUsers::of_fingerprints(1, SALT, all.map(|user| fingerprint(&SALT, &user)).collect())
}
