//! What every handler knows of the request it answers, besides the request itself.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::HeaderMap;
use http::request::Parts;
use seckill_gate::{Identified, Moment, Request, Signature};
use seckill_sale::{Activity, ActivityId, Language, Refusal, RequestId};

use crate::count;
use crate::error::Error;
use crate::headers::Headers;
use crate::request_id;
use crate::state::{Core, Shared};

/// One request under way.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) core: Arc<Core>,
    pub(crate) request_id: RequestId,
    pub(crate) language: Language,
    pub(crate) peer: IpAddr,
    /// The store's time at the request's arrival.
    pub(crate) moment: Moment,
    /// What a client's signature came to, where there is one.
    pub(crate) signature: Option<Arc<Signature>>,
}

impl Call {
    pub(crate) fn new(core: &Arc<Core>, peer: IpAddr, headers: Headers<'_>) -> Self {
        Self {
            core: core.clone(),
            request_id: request_id::told(headers.request_id)
                .unwrap_or_else(|| RequestId::from_bits(core.unique.next())),
            language: crate::language::told(headers.language),
            peer,
            moment: core.shared.moment(),
            signature: None,
        }
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.core.shared
    }

    /// The request as the gate wants it.
    pub(crate) fn at_gate<'a>(&'a self, headers: &'a HeaderMap) -> Request<'a> {
        Request {
            peer: self.peer,
            headers,
            signature: self.signature.as_deref(),
        }
    }

    /// Who asks, on routes that show a user what is his.
    pub(crate) fn reader<'a>(&'a self, headers: &'a HeaderMap) -> Result<Identified<'a>, Refusal> {
        let admitted = self.shared().gate.admit_read(self.at_gate(headers), self.moment);
        admitted.inspect_err(|refusal| count::read_limited(self, refusal))
    }

    /// Whether anybody may see a page now.
    pub(crate) fn visitor(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let admitted = self.shared().gate.admit_page(self.at_gate(headers), self.moment);
        admitted.inspect_err(|refusal| count::read_limited(self, refusal))
    }

    /// An activity that people may see: drafts are as unknown as ids that nobody gave out.
    pub(crate) fn visible_activity(&self, id: Option<ActivityId>) -> Result<Arc<Activity>, Refusal> {
        let catalogue = self.shared().gate.catalogue();
        catalogue.find(id.ok_or(Refusal::UnknownActivity)?)
    }
}

/// Handlers behind the router take the call that [`crate::Connection`] put there.
impl<S: Sync> FromRequestParts<S> for Call {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Error> {
        parts.extensions.get::<Self>().cloned().ok_or(Error::Internal)
    }
}
