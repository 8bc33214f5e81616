//! Moments as people give them, and for how long something holds. They are told as the API tells them: RFC 3339 in UTC.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use seckill_api::rfc3339;
use seckill_console::precheck_moment;
use seckill_sale::{Clock, SystemClock};
use seckill_settings::parse_duration;

use crate::cli::EndArgs;
use crate::exit::Failure;

/// What `flag` gave, where the API takes it.
pub(super) fn given<'a>(flag: &'static str, text: &'a str) -> Result<&'a str, Failure> {
    let checked = precheck_moment(flag, text);
    checked.map_err(|misfit| {
        let hint = offset_hint(text).unwrap_or_default();
        Failure::usage(format!("--{flag}: {}{hint}; nothing was changed", misfit.why))
    })?;
    Ok(text)
}

/// When something ends; none where it does not by itself.
pub(super) fn end(args: &EndArgs) -> Result<Option<String>, Failure> {
    if let Some(at) = &args.expires_at {
        return given("expires-at", at).map(|at| Some(at.to_owned()));
    }
    let Some(text) = &args.lasts else { return Ok(None) };
    let lasts_ms = parse_duration(text).and_then(|lasts| i64::try_from(lasts.as_millis()).ok());
    let lasts_ms = lasts_ms.ok_or_else(|| {
        Failure::usage(format!(
            "--for: {text:?} is no duration, such as 10m; nothing was changed"
        ))
    })?;
    Ok(Some(rfc3339(SystemClock.now().plus(lasts_ms))))
}

/// A moment without its offset is another one in each zone: none is taken, and how it is written in this machine's is told.
pub(super) fn offset_hint(text: &str) -> Option<String> {
    let has_offset = text.parse::<Timestamp>().is_ok();
    let local = text.parse::<DateTime>().ok().filter(|_| !has_offset)?;
    let zoned = local.to_zoned_datetime(TimeZone::system()).ok()?;
    let said = zoned.strftime("%Y-%m-%dT%H:%M:%S%:z");
    Some(format!(
        "; `{text}` has no offset: in this machine's time zone it would be {said}"
    ))
}
