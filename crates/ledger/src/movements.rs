//! Movements of units between product, sale and orders.

use seckill_sale::{ActivityId, EpochMs};

/// Why units moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MovementKind {
    /// Product → sale, at creation.
    Created,
    /// Product → sale, later.
    Added,
    /// Sale → orders: one settled batch.
    Settled,
    /// Sale → product: unsold units after closing.
    UnsoldReturned,
    /// Sale → product: units of tickets that failed after the end.
    FailedToProduct,
    /// Units of a failed ticket stay with the sale.
    FailedToSale,
    /// Order → product: cancelled or expired.
    CancelledToProduct,
    /// Order → sale: cancelled or expired, where the settings say so.
    CancelledToSale,
}

impl MovementKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Created,
        Self::Added,
        Self::Settled,
        Self::UnsoldReturned,
        Self::FailedToProduct,
        Self::FailedToSale,
        Self::CancelledToProduct,
        Self::CancelledToSale,
    ];

    /// The word in rows.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Added => "added",
            Self::Settled => "settled",
            Self::UnsoldReturned => "unsold_returned",
            Self::FailedToProduct => "failed_to_product",
            Self::FailedToSale => "failed_to_sale",
            Self::CancelledToProduct => "cancelled_to_product",
            Self::CancelledToSale => "cancelled_to_sale",
        }
    }

    /// Whether units come back to the product by it: they count as `returned`.
    #[must_use]
    pub const fn is_return(self) -> bool {
        matches!(
            self,
            Self::UnsoldReturned | Self::FailedToProduct | Self::CancelledToProduct
        )
    }
}

/// One movement of units. Rows are never changed or deleted; ids ascend within an activity in the order of their commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Movement {
    /// Its id.
    pub id: u64,
    /// The activity.
    pub activity: ActivityId,
    /// Why.
    pub kind: MovementKind,
    /// How many units.
    pub units: u64,
    /// When.
    pub moved_at: EpochMs,
}

impl Movement {
    /// What the store has to add to its units left; 0 where the store knows of it by another way.
    #[must_use]
    pub fn store_delta(&self) -> i64 {
        let units = i64::try_from(self.units).unwrap_or(i64::MAX);
        match self.kind {
            MovementKind::Added | MovementKind::CancelledToSale => units,
            MovementKind::UnsoldReturned => -units,
            MovementKind::Created
            | MovementKind::Settled
            | MovementKind::FailedToProduct
            | MovementKind::FailedToSale
            | MovementKind::CancelledToProduct => 0,
        }
    }
}
