//! What a refusal by a limit says of it: `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers-10.
//!
//! They stand on refusals alone. A good answer that told what is left would cost every buyer of the rush a few hundred nanoseconds, and
//! would tell a bot how fast it may go.

use http::HeaderValue;
use http::header::HeaderName;
use seckill_sale::{Quota, Scope};

use crate::answer::Answer;

/// What the limit allows: `"user";q=3;w=3`, three requests in three seconds.
pub(crate) const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
/// What is left of it: `"user";r=0;t=1`, nothing for a second.
pub(crate) const REMAINING: HeaderName = HeaderName::from_static("ratelimit");

/// The refusal, with what the limit of `scope` allows.
pub(crate) fn told(answer: Answer, scope: Scope, quota: Quota, retry_after_ms: u64) -> Answer {
    let name = scope.as_str();
    let Quota { burst, window_s } = quota;
    let policy = format!("\"{name}\";q={burst};w={window_s}");
    let remaining = format!("\"{name}\";r=0;t={}", retry_after_ms.div_ceil(1000));
    let header = |text: String| HeaderValue::try_from(text).expect("letters, digits and signs");
    answer
        .header(POLICY, header(policy))
        .header(REMAINING, header(remaining))
}
