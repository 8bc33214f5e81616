//! The gate: purchases that pass it, purchases that it refuses, and its checks one by one.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use seckill_gate::{
    AbuseRules, Admitted, Authority, Block, Clients, DEVICE_HEADER, DeviceRule, Earlier, Expectations, Gate, Limits,
    Moment, Networks, PerLimit, Random, RateLimiting, Request, Settings, Signer, Subject, Switches,
    TOKEN_CACHE_ENTRIES_DEFAULT, TokenStep, TokenWish, Verifier, Verifiers, Wish,
};
use seckill_sale::{
    Activity, ActivityId, Challenge, Currency, Eligibility, EpochMs, Price, ProductId, Quantity, Refusal, Status,
    UserId, Window,
};

use crate::people::{NOW, STARTS_AT, WINDOW, activity, scattered, user};
use crate::scenarios::Prepared;

mod all_gates;
mod challenges;
mod checks;
mod purchases;
mod refusals;

pub(crate) use all_gates::{all_gates, eligible};
pub(crate) use challenges::{picture, signed_request, work, work_done};
pub(crate) use checks::{
    address, block_list, catalogue, forwarded_address, limiter, new_token, purchase_token, seen_token,
};
pub(crate) use purchases::{
    blocked, forged, limited_address, limited_user, new, not_started, seen, unknown_activity, with_purchase_token,
};
pub(crate) use refusals::{entrance_shut, limited_network, not_eligible, not_let_in, noted_as_abuse, unsigned_device};

const MOMENT: Moment = Moment::exact(NOW);

const SECRET: &[u8] = b"a secret of more than thirty-two bytes";

const PURCHASE_TOKEN_SECRET: [u8; 32] = [7; 32];

/// As in the product's settings.
const TABLE_SLOTS: usize = 262_144;

/// Blocks that are in force, none of them on a visitor unless a scenario says so.
const BLOCKED_OTHERS: u64 = 10_000;

/// Who stands at the door.
struct Visitor {
    user: UserId,
    peer: IpAddr,
    headers: HeaderMap,
}

/// The `n`-th visitor: an address, a token and a device of his own, and what else a client sends.
fn visitor(signer: &Signer, n: usize) -> anyhow::Result<Visitor> {
    let user = user(n as u64);
    let token = signer.sign(&user, STARTS_AT, WINDOW.ends_at)?;
    let headers = [
        (HOST, "shop.example".to_owned()),
        (
            USER_AGENT,
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36".to_owned(),
        ),
        (ACCEPT, "application/json".to_owned()),
        (CONTENT_TYPE, "application/json".to_owned()),
        (CONTENT_LENGTH, "15".to_owned()),
        (AUTHORIZATION, format!("Bearer {token}")),
    ];
    let mut headers: HeaderMap = headers
        .into_iter()
        .map(|(name, value)| Ok((name, HeaderValue::try_from(value)?)))
        .collect::<anyhow::Result<_>>()?;
    let device = format!("{:016x}", scattered(!(n as u64)));
    headers.insert(DEVICE_HEADER, HeaderValue::try_from(device)?);
    let peer = Ipv4Addr::from(0x0b00_0000 + u32::try_from(n)?).into();
    Ok(Visitor { user, peer, headers })
}

fn visitors(count: usize) -> anyhow::Result<Vec<Visitor>> {
    let signer = Signer::hs256(SECRET, &Expectations::default())?;
    (0..count).map(|n| visitor(&signer, n)).collect()
}

fn verifiers() -> anyhow::Result<Verifiers> {
    let verifier = Verifier::hs256(SECRET, &Expectations::default())?;
    Ok(Verifiers::new(verifier, TOKEN_CACHE_ENTRIES_DEFAULT))
}

/// A gate as `serve` makes it without settings of one's own, with ten sales.
fn gate(change: impl Fn(&mut Activity)) -> anyhow::Result<Gate> {
    gate_of(|_| {}, change)
}

/// The same with other settings.
fn gate_of(set: impl FnOnce(&mut Settings), change: impl Fn(&mut Activity)) -> anyhow::Result<Gate> {
    let mut settings = Settings {
        authority: Authority::Tokens(verifiers()?),
        clients: Clients::default(),
        trusted_proxies: Networks::new(["10.0.0.0/8".parse()?]),
        exempt: Networks::default(),
        limits: limits()?,
        rate_limiting: RateLimiting::Local,
        abuse: AbuseRules::OFF,
        table_slots: TABLE_SLOTS,
        purchase_token_secret: PURCHASE_TOKEN_SECRET,
        devices: DeviceRule::Named,
        pow_bits: 18,
        switches: Switches::open(200_000),
    };
    set(&mut settings);
    let gate = Gate::new(settings);
    for n in 0..10 {
        let mut activity = running(activity(n))?;
        change(&mut activity);
        gate.catalogue().put(&Arc::new(activity));
    }
    gate.blocks().replace(others_blocked())?;
    Ok(gate)
}

/// The product's defaults.
fn limits() -> anyhow::Result<Limits> {
    Ok(Limits {
        buy: PerLimit {
            ip: "50/s burst 100".parse()?,
            user: "1/s burst 3".parse()?,
            device: "2/s burst 5".parse()?,
            ..PerLimit::OFF
        },
        read: "20/s burst 60".parse()?,
    })
}

fn others_blocked() -> impl Iterator<Item = Block> {
    let other = |n: u64| block(Subject::User(user(u64::from(u32::MAX) + n)));
    (0..BLOCKED_OTHERS).map(other)
}

const fn block(subject: Subject) -> Block {
    Block {
        subject,
        expires_at: None,
    }
}

fn running(id: ActivityId) -> anyhow::Result<Activity> {
    Ok(Activity {
        id,
        product_id: ProductId::new(1)?,
        product_name: "unit".to_owned(),
        title: "sale".to_owned(),
        price: Price::new(2_000)?,
        seckill_price: Price::new(1_000)?,
        currency: Currency::new("CNY")?,
        stock_total: 1_000,
        window: WINDOW,
        per_user_limit: Quantity::ONE,
        shards: 1,
        challenge: Challenge::None,
        eligibility: Eligibility::default(),
        status: Status::Running,
        epoch: None,
        version: 1,
        resumes_at: None,
        notice: None,
        created_at: EpochMs(0),
    })
}

/// Visits the numbers of `before` without a count, then those below `operations` with one. A visit says whether it ended as expected.
fn visits(
    before: impl IntoIterator<Item = usize>,
    operations: usize,
    mut visit: impl FnMut(usize) -> bool + 'static,
) -> Prepared {
    for n in before {
        visit(n);
    }
    Box::new(move || Ok((0..operations).filter(|&n| visit(n)).count()))
}

/// Numbers for the token or the challenge of the `n`-th visitor.
const fn random(n: usize) -> Random {
    Random {
        token: 7,
        challenge: n as u128,
    }
}

/// A purchase token of the first sale.
fn token_wish(answered: Option<&str>, n: usize) -> TokenWish<'_> {
    TokenWish {
        activity: activity(0),
        answered,
        random: random(n),
    }
}
