//! Whole purchases at the gate, one for each way in which they end.

use super::*;

/// By buyers whose tokens were seen before.
pub(crate) fn seen(operations: usize) -> anyhow::Result<Prepared> {
    let gate = gate(|_| {})?;
    purchases(gate, 0..operations, operations, is_admitted)
}

/// By buyers whose tokens are new.
pub(crate) fn new(operations: usize) -> anyhow::Result<Prepared> {
    let gate = gate(|_| {})?;
    let others = operations..operations + operations.min(64);
    purchases(gate, others, operations, is_admitted)
}

/// By buyers who have come as often as they may.
pub(crate) fn limited_user(operations: usize) -> anyhow::Result<Prepared> {
    let gate = gate(|_| {})?;
    let before = (0..3).flat_map(move |_| 0..operations);
    purchases(gate, before, operations, |outcome| {
        matches!(outcome, Err(Refusal::Limited { .. }))
    })
}

/// From an address that has asked as often as it may.
pub(crate) fn limited_address(operations: usize) -> anyhow::Result<Prepared> {
    let gate = gate(|_| {})?;
    let mut visitors = visitors(operations)?;
    for visitor in &mut visitors {
        visitor.peer = Ipv4Addr::new(11, 0, 0, 1).into();
    }
    let before = (0..100).map(move |n| n % operations);
    Ok(visits(before, operations, move |n| {
        matches!(purchase(&gate, &visitors[n], None), Err(Refusal::LimitedByIp { .. }))
    }))
}

/// By users who are blocked.
pub(crate) fn blocked(operations: usize) -> anyhow::Result<Prepared> {
    let gate = gate(|_| {})?;
    let these = (0..operations as u64).map(|n| block(Subject::User(user(n))));
    gate.blocks().replace(others_blocked().chain(these))?;
    purchases(gate, 0..operations, operations, |outcome| {
        matches!(outcome, Err(Refusal::Blocked))
    })
}

/// Of a sale that does not exist.
pub(crate) fn unknown_activity(operations: usize) -> anyhow::Result<Prepared> {
    let gate = gate(|_| {})?;
    gate.catalogue().replace([]);
    purchases(gate, 0..operations, operations, |outcome| {
        matches!(outcome, Err(Refusal::UnknownActivity))
    })
}

/// Before the sale begins.
pub(crate) fn not_started(operations: usize) -> anyhow::Result<Prepared> {
    let gate = gate(|activity| {
        activity.window = Window {
            starts_at: NOW.plus(60_000),
            ends_at: NOW.plus(120_000),
        };
    })?;
    purchases(gate, 0..operations, operations, |outcome| {
        matches!(outcome, Err(Refusal::NotStarted { .. }))
    })
}

/// With a token that somebody else has signed.
pub(crate) fn forged(operations: usize) -> anyhow::Result<Prepared> {
    let gate = gate(|_| {})?;
    let signer = Signer::hs256(
        b"another secret of more than thirty-two bytes",
        &Expectations::default(),
    )?;
    let visitors: Vec<Visitor> = (0..operations)
        .map(|n| visitor(&signer, n))
        .collect::<anyhow::Result<_>>()?;
    Ok(visits(0..operations, operations, move |n| {
        matches!(purchase(&gate, &visitors[n], None), Err(Refusal::Unauthenticated))
    }))
}

/// By buyers whose tokens were seen before, with the purchase token that the sale asks for.
pub(crate) fn with_purchase_token(operations: usize) -> anyhow::Result<Prepared> {
    let gate = gate(|activity| activity.challenge = Challenge::Token)?;
    let visitors = visitors(operations)?;
    let token = |visitor: &Visitor| {
        let identified = gate.admit_read(request(visitor), MOMENT);
        let identified = identified.ok().context("the visitor is known")?;
        match gate.admit_token(&identified, token_wish(None, 7), MOMENT) {
            Ok(TokenStep::Issued(token)) => Ok(token.text),
            _ => bail!("no token is issued"),
        }
    };
    let tokens: Vec<String> = visitors.iter().map(token).collect::<anyhow::Result<_>>()?;
    Ok(visits([], operations, move |n| {
        purchase(&gate, &visitors[n], Some(&tokens[n])).is_ok()
    }))
}

const fn is_admitted(outcome: &Result<Admitted<'_>, Refusal>) -> bool {
    outcome.is_ok()
}

fn purchases(
    gate: Gate,
    before: impl Iterator<Item = usize> + Clone,
    operations: usize,
    expected: fn(&Result<Admitted<'_>, Refusal>) -> bool,
) -> anyhow::Result<Prepared> {
    let most = before.clone().max().map_or(0, |n| n + 1);
    let visitors = visitors(operations.max(most))?;
    Ok(visits(before, operations, move |n| {
        expected(&purchase(&gate, &visitors[n], None))
    }))
}

pub(super) const fn request(visitor: &Visitor) -> Request<'_> {
    Request {
        peer: visitor.peer,
        headers: &visitor.headers,
        signature: None,
    }
}

/// All stages, as the buy route goes through them.
pub(super) fn purchase<'a>(gate: &Gate, visitor: &'a Visitor, token: Option<&str>) -> Result<Admitted<'a>, Refusal> {
    let arrived = gate.arrive(request(visitor), MOMENT)?;
    let identified = gate.identify(arrived, MOMENT)?;
    let wish = Wish {
        activity: activity(0),
        quantity: Quantity::ONE,
        token,
    };
    gate.admit_purchase(identified, wish, |_, _| Earlier::None, MOMENT)
}
