//! Values of headers that many answers in a row have in common: written once by each thread, then shared.

use std::cell::RefCell;

use bytes::Bytes;
use http::HeaderValue;
use seckill_sale::{ActivityId, EpochMs};

use crate::wording::{Digits, joined};

thread_local! {
    /// The time as it was last written by this thread: a core answers dozens of requests within a millisecond.
    static LAST_TIME: RefCell<(EpochMs, HeaderValue)> = const { RefCell::new((EpochMs(0), HeaderValue::from_static("0"))) };
}

/// `Server-Time`.
pub(crate) fn server_time(now: EpochMs) -> HeaderValue {
    LAST_TIME.with_borrow_mut(|last| {
        if last.0 != now {
            *last = (now, HeaderValue::from(now.0));
        }
        last.1.clone()
    })
}

thread_local! {
    /// The path that was last written by this thread: in a rush they are all the same.
    static LAST_PATH: RefCell<Option<(ActivityId, HeaderValue)>> = const { RefCell::new(None) };
}

/// Where a buyer finds his result.
pub(crate) fn result_path(activity: ActivityId) -> HeaderValue {
    LAST_PATH.with_borrow_mut(|last| match last {
        Some((of, path)) if *of == activity => path.clone(),
        _ => {
            let path = joined(&[b"/api/seckill/result/", Digits::new().of(activity.get())]);
            let path = HeaderValue::from_maybe_shared(Bytes::from(path)).expect("a path of digits is a header");
            *last = Some((activity, path.clone()));
            path
        }
    })
}
