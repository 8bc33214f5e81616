//! What is asked before a purchase token is given out, and requests that a shop's backend signs.

use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderName;
use seckill_gate::{CLIENT_HEADER, SignedRequest, USER_HEADER};
use sha2::{Digest as _, Sha256};

use super::*;

/// How much work is asked for: so little that preparing the answers takes no time.
const BITS: u8 = 4;
const BODY: &[u8] = br#"{"quantity":1}"#;
const CLIENT: &str = "shop-1";

/// The token route of a sale that asks for a picture: it is drawn.
pub(crate) fn picture(operations: usize) -> anyhow::Result<Prepared> {
    posed(Challenge::Captcha, operations)
}

/// The token route of a sale that asks for work.
pub(crate) fn work(operations: usize) -> anyhow::Result<Prepared> {
    posed(Challenge::Pow, operations)
}

fn posed(challenge: Challenge, operations: usize) -> anyhow::Result<Prepared> {
    let (gate, visitors) = (asking(challenge)?, visitors(operations)?);
    Ok(visits([], operations, move |n| {
        matches!(step(&gate, &visitors[n], None, n), Ok(TokenStep::Posed(_)))
    }))
}

/// The token route once the work is done: the seal, the work, the keys of the permits, and the token.
pub(crate) fn work_done(operations: usize) -> anyhow::Result<Prepared> {
    let (gate, visitors) = (asking(Challenge::Pow)?, visitors(operations)?);
    let mut answers = Vec::with_capacity(operations);
    for (n, visitor) in visitors.iter().enumerate() {
        let Ok(TokenStep::Posed(posed)) = step(&gate, visitor, None, n) else {
            bail!("work is asked for");
        };
        let Ok(TokenStep::Answered(attempt)) = step(&gate, visitor, Some(&posed.id), n) else {
            bail!("an answer is looked at");
        };
        let tries = (0_u32..).map(|number| number.to_string());
        let answer = tries.take(100_000).find(|answer| attempt.solved_by(answer).is_some());
        answers.push((posed.id, answer.context("somebody finds the answer")?));
    }
    Ok(visits([], operations, move |n| {
        let (id, answer) = &answers[n];
        let Ok(TokenStep::Answered(attempt)) = step(&gate, &visitors[n], Some(id), n) else {
            return false;
        };
        let Some(solved) = attempt.solved_by(answer) else {
            return false;
        };
        let keys_differ = attempt.tries_key() != solved.use_key();
        let Ok(identified) = gate.admit_read(purchases::request(&visitors[n]), MOMENT) else {
            return false;
        };
        let token = gate.solved_token(&identified, activity(0), solved, random(n), MOMENT);
        keys_differ && !token.text.is_empty()
    }))
}

fn asking(challenge: Challenge) -> anyhow::Result<Gate> {
    gate_of(
        |settings| {
            settings.pow_bits = BITS;
            settings.limits = Limits::OFF;
        },
        |activity| activity.challenge = challenge,
    )
}

fn step(gate: &Gate, visitor: &Visitor, answered: Option<&str>, n: usize) -> Result<TokenStep, Refusal> {
    let identified = gate.admit_read(purchases::request(visitor), MOMENT)?;
    gate.admit_token(&identified, token_wish(answered, n), MOMENT)
}

/// The signature of a purchase that a shop's backend makes for a user.
pub(crate) fn signed_request(operations: usize) -> anyhow::Result<Prepared> {
    let clients = Clients::new([(CLIENT, SECRET)]);
    let signed: Vec<HeaderMap> = (0..operations).map(signed).collect::<anyhow::Result<_>>()?;
    Ok(visits([], operations, move |n| {
        let request = SignedRequest {
            method: "POST",
            target: "/api/seckill/7",
            headers: &signed[n],
            body: BODY,
        };
        clients.verify(request, NOW).is_some()
    }))
}

fn signed(n: usize) -> anyhow::Result<HeaderMap> {
    let (user, timestamp, nonce) = (user(n as u64), NOW.0.to_string(), format!("{n:032x}"));
    let digest = hex(&Sha256::digest(BODY));
    let text = format!(
        "POST\n/api/seckill/7\n{timestamp}\n{nonce}\n{user}\n{digest}",
        user = user.as_str()
    );
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET)?;
    mac.update(text.as_bytes());
    let headers = [
        (HeaderName::from_static(CLIENT_HEADER), CLIENT.to_owned()),
        (USER_HEADER, user.as_str().to_owned()),
        (HeaderName::from_static("x-timestamp"), timestamp),
        (HeaderName::from_static("x-nonce"), nonce),
        (
            HeaderName::from_static("x-signature"),
            hex(&mac.finalize().into_bytes()),
        ),
    ];
    let parsed = |(name, value): (HeaderName, String)| Ok((name, HeaderValue::try_from(value)?));
    headers.into_iter().map(parsed).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
