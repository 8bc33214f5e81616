//! Purchases that a switch or a rule of the operator refuses, and what rules of abuse add to a refusal.

use super::*;

/// While the entrance is shut.
pub(crate) fn entrance_shut(operations: usize) -> anyhow::Result<Prepared> {
    let shut = |switches: &mut Switches| switches.entry_open = false;
    switched(shut, operations, |refusal| matches!(refusal, Refusal::Paused { .. }))
}

/// By buyers who are not among those who are let in.
pub(crate) fn not_let_in(operations: usize) -> anyhow::Result<Prepared> {
    let nobody = |switches: &mut Switches| switches.admit_ratio = 0.0;
    switched(nobody, operations, |refusal| matches!(refusal, Refusal::Busy))
}

/// By users whose level the sale does not admit.
pub(crate) fn not_eligible(operations: usize) -> anyhow::Result<Prepared> {
    let gate = gate(|activity| activity.eligibility.min_level = Some(3))?;
    refused(gate, 0, operations, |refusal| matches!(refusal, Refusal::NotEligible))
}

/// On devices that nobody has signed.
pub(crate) fn unsigned_device(operations: usize) -> anyhow::Result<Prepared> {
    let gate = gate_of(|settings| settings.devices = DeviceRule::Signed, |_| {})?;
    refused(gate, 0, operations, |refusal| {
        matches!(refusal, Refusal::ChallengeFailed)
    })
}

/// From a network that has asked as often as it may.
pub(crate) fn limited_network(operations: usize) -> anyhow::Result<Prepared> {
    let gate = gate_of(
        |settings| settings.limits.buy.network = "1/min burst 1".parse().expect("a limit"),
        |_| {},
    )?;
    // 256 addresses share one: one of them in all has passed before.
    refused(gate, operations, operations, |refusal| {
        matches!(refusal, Refusal::LimitedByIp { .. })
    })
}

/// By buyers who have come as often as they may, each of them counted by three rules of abuse.
pub(crate) fn noted_as_abuse(operations: usize) -> anyhow::Result<Prepared> {
    let gate = gate_of(
        |settings| {
            let rule = "1000000/s burst 1000000".parse().expect("a limit");
            settings.abuse = AbuseRules {
                ip: rule,
                user: rule,
                device: rule,
                block_for_ms: 600_000,
            };
        },
        |_| {},
    )?;
    for _ in 0..3 {
        let visitors = visitors(operations)?;
        visitors.iter().for_each(|visitor| {
            // The burst is used up.
            let _passed = purchases::purchase(&gate, visitor, None);
        });
    }
    refused(gate, 0, operations, |refusal| {
        matches!(refusal, Refusal::Limited { .. })
    })
}

fn switched(
    change: impl FnOnce(&mut Switches),
    operations: usize,
    expected: fn(&Refusal) -> bool,
) -> anyhow::Result<Prepared> {
    let gate = gate_of(|settings| change(&mut settings.switches), |_| {})?;
    refused(gate, 0, operations, expected)
}

/// Purchases by `operations` buyers whose tokens were seen before; the first `before` have come once already.
fn refused(gate: Gate, before: usize, operations: usize, expected: fn(&Refusal) -> bool) -> anyhow::Result<Prepared> {
    let visitors = visitors(operations)?;
    for visitor in &visitors {
        let known = gate.admit_read(purchases::request(visitor), MOMENT);
        known.ok().context("the visitor is known")?;
    }
    Ok(visits(
        0..before,
        operations,
        move |n| matches!(&purchases::purchase(&gate, &visitors[n], None), Err(refusal) if expected(refusal)),
    ))
}
