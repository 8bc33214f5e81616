//! Lists of those who may buy in a sale. The least level of a user stands in the activity itself.

use std::sync::Arc;

use async_trait::async_trait;
use seckill_sale::{Activity, ActivityId};

use crate::{Context, Error};

/// How a list is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EligibleForm {
    /// Fingerprints of users, 8 bytes each, big-endian.
    Users {
        /// What the fingerprints were made with.
        salt: [u8; 16],
    },
    /// A Bloom filter.
    Bloom {
        /// Its bits.
        bits: u64,
        /// Bits that one user sets.
        hashes: u32,
    },
}

/// A list of those who may buy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EligibleList {
    /// How it is written down.
    pub form: EligibleForm,
    /// Its fingerprints or bits; kept in pieces, so that no database's limit of a packet is met.
    pub bytes: Vec<u8>,
}

/// Lists of those who may buy. Each has a version, which stands in its activity too: who has a list of that version need not read it again.
/// The ledger draws it with the list: a later list of the activity has a greater one, also where clocks of those who set them differ; and
/// lists of different moments have different ones, also where a copy of the ledger was restored in between.
#[async_trait]
pub trait Eligible: Send + Sync + 'static {
    /// Puts a list in the place of the activity's present one, whole or not at all.
    ///
    /// # Errors
    /// [`crate::Conflict::Closed`].
    async fn set_eligible_list(
        &self,
        id: ActivityId,
        list: Arc<EligibleList>,
        context: Context,
    ) -> Result<Activity, Error>;
    /// Takes the activity's list away; its least level stays. Without a list nothing is changed.
    async fn remove_eligible_list(&self, id: ActivityId, context: Context) -> Result<Activity, Error>;
    /// The list of this version; none where the activity has another by now, or none.
    async fn eligible_list(&self, id: ActivityId, version: u64) -> Result<Option<EligibleList>, Error>;
    /// Activities that are not closed and have a list, with its version.
    async fn eligible_versions(&self) -> Result<Vec<(ActivityId, u64)>, Error>;
}
