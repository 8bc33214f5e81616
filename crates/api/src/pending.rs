//! An answer on its way through axum: it travels beside an empty body and is rendered outside.

use axum::response::{IntoResponse, Response};
use seckill_sale::EpochMs;

use crate::answer::Answer;
use crate::error::Error;

/// See the module.
#[derive(Debug, Clone)]
pub(crate) enum Pending {
    Answer(Answer),
    Error(Error),
}

impl Pending {
    pub(crate) fn answer(self, now: EpochMs) -> Answer {
        match self {
            Self::Answer(answer) => answer,
            Self::Error(error) => error.answer(now),
        }
    }
}

impl IntoResponse for Pending {
    fn into_response(self) -> Response {
        let mut response = Response::default();
        response.extensions_mut().insert(self);
        response
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        Pending::Answer(self).into_response()
    }
}
