//! Where several refusals apply, the first in the order of the checks is the answer: all pairs are tried.

use crate::support::{
    ENDS_AT, SELLING, STARTS_AT, activity, activity_id, gate, headers, identified, limit, settings, signed_in, token,
    token_wish, user,
};
use std::sync::Arc;

use seckill_gate::{
    Binding, Block, Device, DeviceRule, Earlier, Gate, Limits, Moment, PerLimit, PurchaseTokens, Settings, Subject,
    Switches, Wish,
};
use seckill_sale::{Activity, Challenge, Code, Eligibility, NotReady, Quantity, Refusal, Scope, Status};

/// Things that are wrong with a purchase, in the order in which they are to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    AddressTooOften,
    NetworkTooOften,
    NoToken,
    BadBody,
    NoSuchActivity,
    TooMany,
    UserBlocked,
    NotEligible,
    ListNotCome,
    Paused,
    EntranceShut,
    ReadOnly,
    TooEarly,
    TooLate,
    Shed,
    DeviceUnsigned,
    NoPurchaseToken,
    UserTooOften,
    DeviceTooOften,
    ActivityTooOften,
    NodeTooOften,
}

const ALL: [Fault; 21] = [
    Fault::AddressTooOften,
    Fault::NetworkTooOften,
    Fault::NoToken,
    Fault::BadBody,
    Fault::NoSuchActivity,
    Fault::TooMany,
    Fault::UserBlocked,
    Fault::NotEligible,
    Fault::ListNotCome,
    Fault::Paused,
    Fault::EntranceShut,
    Fault::ReadOnly,
    Fault::TooEarly,
    Fault::TooLate,
    Fault::Shed,
    Fault::DeviceUnsigned,
    Fault::NoPurchaseToken,
    Fault::UserTooOften,
    Fault::DeviceTooOften,
    Fault::ActivityTooOften,
    Fault::NodeTooOften,
];

impl Fault {
    fn is_told_as(self, refusal: &Refusal) -> bool {
        match self {
            Self::AddressTooOften => is_limited_by_ip(refusal, 60),
            Self::NetworkTooOften => is_limited_by_ip(refusal, 30),
            Self::NoToken => *refusal == Refusal::Unauthenticated,
            Self::BadBody => matches!(refusal, Refusal::Malformed { .. }),
            Self::NoSuchActivity => *refusal == Refusal::UnknownActivity,
            Self::TooMany => *refusal == Refusal::QuantityAboveLimit,
            Self::UserBlocked => *refusal == Refusal::Blocked,
            Self::NotEligible => *refusal == Refusal::NotEligible,
            Self::ListNotCome => *refusal == Refusal::NotReady(NotReady::NotPreheated),
            Self::Paused | Self::EntranceShut | Self::ReadOnly => matches!(refusal, Refusal::Paused { .. }),
            Self::TooEarly => *refusal == Refusal::NotStarted { starts_at: STARTS_AT },
            Self::TooLate => *refusal == Refusal::Ended,
            Self::Shed => *refusal == Refusal::Busy,
            Self::DeviceUnsigned | Self::NoPurchaseToken => *refusal == Refusal::ChallengeFailed,
            Self::UserTooOften => is_limited(refusal, Scope::User),
            Self::DeviceTooOften => is_limited(refusal, Scope::Device),
            Self::ActivityTooOften => is_limited(refusal, Scope::Activity),
            Self::NodeTooOften => is_limited(refusal, Scope::Node),
        }
    }
}

fn is_limited(refusal: &Refusal, by: Scope) -> bool {
    matches!(refusal, Refusal::Limited { scope, .. } if *scope == by)
}

/// By the limit that gives a permit in so many seconds.
fn is_limited_by_ip(refusal: &Refusal, seconds: u32) -> bool {
    matches!(refusal, Refusal::LimitedByIp { quota, .. } if quota.window_s == seconds)
}

/// Limits of one permit where a purchase is to come too often.
fn scarce_limits(has: impl Fn(Fault) -> bool) -> Limits {
    let scarce = |fault, text| limit(if has(fault) { text } else { "off" });
    let once = "1/min burst 1";
    Limits::from(PerLimit {
        ip: scarce(Fault::AddressTooOften, once),
        network: scarce(Fault::NetworkTooOften, "2/min burst 1"),
        user: scarce(Fault::UserTooOften, once),
        device: scarce(Fault::DeviceTooOften, once),
        activity: scarce(Fault::ActivityTooOften, once),
        node: scarce(Fault::NodeTooOften, once),
    })
}

/// A gate at which a purchase has these faults.
fn faulty_gate(has: impl Fn(Fault) -> bool) -> Gate {
    let devices = if has(Fault::DeviceUnsigned) {
        DeviceRule::Signed
    } else {
        DeviceRule::Named
    };
    let id = if has(Fault::NoSuchActivity) { 2 } else { 1 };
    let sale = Activity {
        challenge: Challenge::Token,
        ..activity(id)
    };
    let gate = gate(
        Settings {
            limits: scarce_limits(&has),
            devices,
            ..settings()
        },
        sale.clone(),
    );
    use_up_limits(
        &gate,
        id,
        if has(Fault::TooLate) {
            Moment::exact(ENDS_AT.plus(-1))
        } else {
            moment(&has)
        },
    );
    gate.catalogue().put(&Arc::new(Activity {
        status: if has(Fault::Paused) {
            Status::Paused
        } else {
            sale.status
        },
        eligibility: Eligibility {
            min_level: has(Fault::NotEligible).then_some(3),
            list: has(Fault::ListNotCome).then_some(1),
        },
        version: 2,
        ..sale
    }));
    if has(Fault::UserBlocked) {
        let subject = Subject::parse("user", "alice").expect("a subject");
        gate.blocks()
            .replace([Block {
                subject,
                expires_at: None,
            }])
            .expect("one block");
    }
    let switches = Switches {
        entry_open: !has(Fault::EntranceShut),
        read_only: has(Fault::ReadOnly),
        admit_ratio: if has(Fault::Shed) { 0.0 } else { 1.0 },
        revision: 1,
        ..Switches::open(200_000)
    };
    assert!(gate.switch(switches));
    gate
}

/// When the purchase comes.
fn moment(has: impl Fn(Fault) -> bool) -> Moment {
    Moment::exact(match (has(Fault::TooEarly), has(Fault::TooLate)) {
        (true, _) => STARTS_AT.plus(-1),
        (_, true) => ENDS_AT,
        _ => SELLING.now,
    })
}

/// Takes the only permits of alice's address, of her and of her device, where those are scarce; and by somebody else those of all buyers.
fn use_up_limits(gate: &Gate, activity: u64, moment: Moment) {
    let headers = headers(&[
        ("authorization", &format!("Bearer {}", token("alice"))),
        ("x-device-id", "phone"),
    ]);
    let alice = identified(gate, "1.2.3.4", &headers, moment).expect("the first request");
    gate.admit_token(&alice, token_wish(activity), moment)
        .expect("the first request");
    let headers = signed_in("carol");
    let carol = identified(gate, "9.9.9.9", &headers, moment).expect("her first request");
    let wish = Wish {
        activity: activity_id(activity),
        quantity: Quantity::ONE,
        token: Some(&purchase_token("carol", None, activity, moment)),
    };
    // Before the start, and without a signed device, she gets no further than alice.
    let _first = gate.admit_purchase(carol, wish, |_, _| Earlier::None, moment);
}

/// Alice's purchase, as the caller of the gate takes it through the stages.
fn buy(gate: &Gate, has: impl Fn(Fault) -> bool) -> Result<(), Refusal> {
    let bearer = if has(Fault::NoToken) {
        "none".to_owned()
    } else {
        token("alice")
    };
    let headers = headers(&[("authorization", &format!("Bearer {bearer}")), ("x-device-id", "phone")]);
    let moment = moment(&has);
    let alice = identified(gate, "1.2.3.4", &headers, moment)?;
    if has(Fault::BadBody) {
        return Err(Refusal::Malformed { detail: String::new() });
    }
    let purchase_token =
        (!has(Fault::NoPurchaseToken)).then(|| purchase_token("alice", Device::new("phone"), 1, moment));
    let quantity = Quantity::new(if has(Fault::TooMany) { 2 } else { 1 }).expect("in range");
    let wish = Wish {
        activity: activity_id(1),
        quantity,
        token: purchase_token.as_deref(),
    };
    gate.admit_purchase(alice, wish, |_, _| Earlier::None, moment)
        .map(|admitted| assert!(admitted.challenge_passed()))
}

fn purchase_token(buyer: &str, device: Option<Device<'_>>, activity: u64, moment: Moment) -> String {
    let binding = Binding {
        user: &user(buyer),
        activity: activity_id(activity),
        device,
    };
    PurchaseTokens::new(&settings().purchase_token_secret)
        .issue(Challenge::Token, &binding, moment.now, 1)
        .text
}

#[test]
fn purchase_without_fault_is_admitted() {
    assert_eq!(buy(&faulty_gate(|_| false), |_| false), Ok(()));
}

#[test]
fn each_fault_alone_has_its_refusal() {
    for fault in ALL {
        let has = |other| other == fault;
        let refusal = buy(&faulty_gate(has), has).expect_err("faulty");
        assert!(fault.is_told_as(&refusal), "{fault:?}: {refusal:?}");
    }
}

#[test]
fn earlier_of_two_faults_is_told() {
    for (at, &first) in ALL.iter().enumerate() {
        for &second in &ALL[at + 1..] {
            if (first, second) == (Fault::TooEarly, Fault::TooLate) {
                continue;
            }
            let has = |fault| fault == first || fault == second;
            let refusal = buy(&faulty_gate(has), has).expect_err("faulty");
            assert!(first.is_told_as(&refusal), "{first:?} and {second:?}: {refusal:?}");
        }
    }
}

#[test]
fn order_is_the_one_of_the_codes() {
    let codes = [
        Code::TooOften,
        Code::TooOften,
        Code::Unauthenticated,
        Code::Malformed,
        Code::UnknownActivity,
        Code::Malformed,
        Code::Blocked,
        Code::Blocked,
        Code::StoreNotReady,
    ];
    let more = [
        Code::Paused,
        Code::Paused,
        Code::Paused,
        Code::NotStarted,
        Code::Ended,
        Code::Busy,
        Code::ChallengeFailed,
        Code::ChallengeFailed,
    ];
    let expect: Vec<_> = codes.into_iter().chain(more).chain([Code::TooOften; 4]).collect();
    assert_eq!(expect.len(), ALL.len());
    for (fault, code) in ALL.into_iter().zip(expect) {
        let has = |other| other == fault;
        assert_eq!(
            buy(&faulty_gate(has), has).map_err(|refusal| refusal.code()),
            Err(code),
            "{fault:?}"
        );
    }
}
