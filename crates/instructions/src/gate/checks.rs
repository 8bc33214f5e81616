//! The checks of the gate, each alone.

use seckill_gate::{Binding, Device, Limiter, PurchaseTokens, bearer_of, client_ip};

use super::*;

/// The client's address of a request that came without a proxy.
pub(crate) fn address(operations: usize) -> anyhow::Result<Prepared> {
    let proxies = Networks::new(["10.0.0.0/8".parse()?]);
    let visitors = visitors(operations)?;
    Ok(visits([], operations, move |n| {
        client_ip(visitors[n].peer, &visitors[n].headers, &proxies) == visitors[n].peer
    }))
}

/// The client's address as a trusted proxy tells it.
pub(crate) fn forwarded_address(operations: usize) -> anyhow::Result<Prepared> {
    let proxies = Networks::new(["10.0.0.0/8".parse()?]);
    let proxy = IpAddr::from(Ipv4Addr::new(10, 0, 0, 1));
    let mut visitors = visitors(operations)?;
    for visitor in &mut visitors {
        let forwarded = HeaderValue::try_from(visitor.peer.to_string())?;
        visitor.headers.insert("x-forwarded-for", forwarded);
    }
    Ok(visits([], operations, move |n| {
        client_ip(proxy, &visitors[n].headers, &proxies) == visitors[n].peer
    }))
}

/// A token that was verified before: the cache.
pub(crate) fn seen_token(operations: usize) -> anyhow::Result<Prepared> {
    tokens(operations, 0..operations)
}

/// A token that comes for the first time: its signature, HS256.
pub(crate) fn new_token(operations: usize) -> anyhow::Result<Prepared> {
    tokens(operations, 0..0)
}

fn tokens(operations: usize, before: std::ops::Range<usize>) -> anyhow::Result<Prepared> {
    let verifiers = verifiers()?;
    let visitors = visitors(operations)?;
    Ok(visits(before, operations, move |n| {
        let token = bearer_of(&visitors[n].headers);
        token.and_then(|token| verifiers.verify(token, NOW)).is_ok()
    }))
}

/// Finding one of ten sales.
pub(crate) fn catalogue(operations: usize) -> anyhow::Result<Prepared> {
    let gate = gate(|_| {})?;
    Ok(visits([], operations, move |n| {
        gate.catalogue().find(activity(n % 10)).is_ok()
    }))
}

/// User, device and address of somebody whom none of 10,000 blocks hits.
pub(crate) fn block_list(operations: usize) -> anyhow::Result<Prepared> {
    let gate = gate(|_| {})?;
    let visitors = visitors(operations)?;
    Ok(visits([], operations, move |n| {
        let Visitor { user, peer, headers } = &visitors[n];
        gate.blocks().check(*peer, user, Device::of(headers), NOW).is_ok()
    }))
}

/// One limit of one user in one sale.
pub(crate) fn limiter(operations: usize) -> anyhow::Result<Prepared> {
    let limiter = Limiter::new(limits()?.buy.user, TABLE_SLOTS);
    let visitors = visitors(operations)?;
    Ok(visits([], operations, move |n| {
        limiter.check((activity(0), &visitors[n].user), NOW).is_ok()
    }))
}

/// A purchase token: HMAC-SHA256 over user, sale, device and expiry.
pub(crate) fn purchase_token(operations: usize) -> anyhow::Result<Prepared> {
    let purchase_tokens = PurchaseTokens::new(&PURCHASE_TOKEN_SECRET);
    let visitors = visitors(operations)?;
    let issued: Vec<String> = visitors
        .iter()
        .map(|visitor| purchase_tokens.issue(Challenge::Token, &binding(visitor), NOW, 7).text)
        .collect();
    Ok(visits([], operations, move |n| {
        purchase_tokens.accepts(&issued[n], Challenge::Token, &binding(&visitors[n]), NOW)
    }))
}

fn binding(visitor: &Visitor) -> Binding<'_> {
    Binding {
        user: &visitor.user,
        activity: activity(0),
        device: Device::of(&visitor.headers),
    }
}
