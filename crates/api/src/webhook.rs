//! `POST /api/payments/webhook`: a payment provider says that money arrived, signed as Standard Webhooks have it: HMAC-SHA256 over
//! `id.timestamp.body`, at most five minutes old. The same message again changes nothing, so a provider may repeat it as he likes.

use std::fmt;

use axum::extract::Request;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderName};
use seckill_ledger::{PaidOutcome, Payment};
use seckill_sale::{Currency, EpochMs};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use sha2::Sha256;

use crate::answer::Answer;
use crate::call::Call;
use crate::error::Error;
use crate::misread::read_object;
use crate::order_view::OrderView;
use crate::{extract, orders, path};

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// How far the message's time may be off, in milliseconds.
const TOLERANCE_MS: u64 = 5 * 60 * 1_000;
/// Providers send more than they are asked for.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// Signatures that are looked at: an old and a new key while they are exchanged.
const SIGNATURES_MAX: usize = 4;
/// Longest id of a payment, in characters.
const PAYMENT_ID_LENGTH_MAX: usize = 64;

/// Why a text is no secret of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the webhook secret must be base64 of at least 24 bytes, with or without \"whsec_\" before it")]
pub struct SecretError;

/// The key that a provider signs with.
#[derive(Clone)]
pub struct WebhookSecret(Vec<u8>);

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret")
    }
}

impl WebhookSecret {
    /// Shortest key, in bytes.
    const LENGTH_MIN: usize = 24;

    /// Reads `whsec_` and base64.
    ///
    /// # Errors
    /// [`SecretError`].
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let encoded = text.strip_prefix("whsec_").unwrap_or(text);
        let key = STANDARD.decode(encoded).map_err(|_| SecretError)?;
        if key.len() < Self::LENGTH_MIN {
            return Err(SecretError);
        }
        Ok(Self(key))
    }

    /// Whether this key signed the message; compared in constant time.
    fn signed(&self, id: &str, timestamp: &str, body: &[u8], signature: &[u8]) -> bool {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes a key of any length");
        for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        mac.verify_slice(signature).is_ok()
    }
}

/// A message. Members beyond these are the provider's own business.
#[derive(Debug, Deserialize)]
struct Message {
    r#type: String,
    data: Box<RawValue>,
}

#[derive(Debug, Deserialize)]
struct Paid {
    order_no: String,
    payment_id: String,
    amount_cents: u64,
    currency: Currency,
}

/// Records money that arrived.
pub(crate) async fn webhook(call: Call, request: Request) -> Result<Answer, Error> {
    let Some(secret) = &call.shared().settings.webhook_secret else {
        return Err(Error::UnknownPath);
    };
    let (head, body) = request.into_parts();
    let body = extract::read(&call, &head.headers, body, BODY_BYTES_MAX).await?;
    verify(secret, &head.headers, &body, call.moment.now)?;
    let message: Message = extract::object(&head.headers, &body)?;
    if message.r#type != "payment.succeeded" {
        return Ok(Answer::fine(&json!({"ignored": true})));
    }
    let payment = payment(message.data.get(), call.moment.now)?;
    orders::writable(&call)?;
    let (order, refund_required) = match call.shared().operator.pay(payment).await? {
        PaidOutcome::Paid(order) => (order, false),
        PaidOutcome::RefundRequired(order) => (order, true),
    };
    Ok(Answer::fine(
        &json!({"order": OrderView::new(&order), "refund_required": refund_required}),
    ))
}

fn payment(data: &str, received_at: EpochMs) -> Result<Payment, Error> {
    let paid: Paid = read_object(data.as_bytes())?;
    let id = paid.payment_id;
    let fine = (1..=PAYMENT_ID_LENGTH_MAX).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    if !fine {
        return Err(Error::Malformed(
            "payment_id must be 1 to 64 visible ASCII characters".into(),
        ));
    }
    Ok(Payment {
        id,
        order_no: path::order_no(&paid.order_no)?,
        user: None,
        amount_cents: paid.amount_cents,
        currency: paid.currency,
        received_at,
    })
}

fn verify(secret: &WebhookSecret, headers: &HeaderMap, body: &[u8], now: EpochMs) -> Result<(), Error> {
    let only = |name: &HeaderName| {
        let mut values = headers.get_all(name).iter();
        let value = values.next().and_then(|value| value.to_str().ok());
        value
            .filter(|_| values.next().is_none())
            .ok_or(Error::BadSignature("a webhook header is missing or doubled"))
    };
    let (id, timestamp, signatures) = (only(&ID)?, only(&TIMESTAMP)?, only(&SIGNATURE)?);
    let sent_at: i64 = timestamp
        .parse()
        .map_err(|_| Error::BadSignature("the timestamp is no number of seconds"))?;
    let off_ms = now.since(EpochMs(sent_at.saturating_mul(1_000))).unsigned_abs();
    if TOLERANCE_MS < off_ms {
        return Err(Error::BadSignature("the timestamp is more than five minutes off"));
    }
    let genuine = signatures.split(' ').take(SIGNATURES_MAX).any(|entry| {
        let signature = entry.strip_prefix("v1,").and_then(|text| STANDARD.decode(text).ok());
        signature.is_some_and(|signature| secret.signed(id, timestamp, body, &signature))
    });
    if genuine {
        Ok(())
    } else {
        Err(Error::BadSignature("no signature fits"))
    }
}
