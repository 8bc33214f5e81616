//! Faults that are planted on purpose, to test the auditor. Each lies in a wrapper around a contract of the product, or in the disk under it.

use std::fmt;
use std::str::FromStr;

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident = $word:literal;)*) => {
        /// A planted fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Fault { $($(#[$doc])* $name,)* }

        impl Fault {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The word on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

faults! {
    /// The disk says that it has synced, and has not.
    SyncLies = "sync-lies";
    /// The last write that was synced is gone after a crash.
    FrameLost = "frame-lost";
    /// A compaction beside the process removes the segment behind those that it covers as well.
    SegmentTooMany = "segment-too-many";
    /// The store answers a claim before it is durable.
    EarlyReply = "early-reply";
    /// The store admits a second, invented buyer beside a real one.
    GhostBuyer = "ghost-buyer";
    /// The store is opened with a unit too many.
    UnitTooMany = "unit-too-many";
    /// The store is opened with a unit too many, and the ledger does not guard its stock row.
    GuardSkipped = "guard-skipped";
    /// The store forgets under which key a buyer has bought.
    KeyForgotten = "key-forgotten";
    /// The store names another key than a buyer's when it is asked for him.
    KeyBlurred = "key-blurred";
    /// The store gives the claims of a batch each other's answers.
    AnswersSwapped = "answers-swapped";
    /// The store calls a sale sold out while a unit is left.
    SoldOutEarly = "sold-out-early";
    /// The store does not look at the end of the window.
    WindowIgnored = "window-ignored";
    /// The store does not hear that a sale was paused.
    PauseIgnored = "pause-ignored";
    /// The store says that it keeps switches, and does not.
    SwitchesForgotten = "switches-forgotten";
    /// The store applies units that were added twice.
    AddedTwice = "added-twice";
    /// The queue counts tickets as settled when it hands them out.
    AckedEarly = "acked-early";
    /// The queue loses one of the tickets that it hands out.
    DeliveryDropped = "delivery-dropped";
    /// The ledger writes a ticket that is delivered again as a second order.
    DeliveredTwice = "delivered-twice";
    /// The ledger writes orders without their movement of units.
    MovementMissing = "movement-missing";
    /// The ledger loses a batch that it has committed.
    BatchLost = "batch-lost";
    /// The ledger writes orders at the product's ordinary price.
    WrongPrice = "wrong-price";
    /// The ledger makes a round of a recurring sale as two activities.
    RoundTwice = "round-twice";
    /// The ledger expires orders that are paid.
    ExpiresPaid = "expires-paid";
    /// The ledger gives the units of a cancelled order back twice.
    UnitsTwice = "units-twice";
    /// Reconciliation raises the units left.
    ReconcileRaises = "reconcile-raises";
    /// Recovery forgets one of the tickets that it queues again.
    RequeueLost = "requeue-lost";
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no fault of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFault(String);

impl fmt::Display for UnknownFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no fault {:?}; there are", self.0)?;
        Fault::ALL.iter().try_for_each(|fault| write!(f, " {fault}"))
    }
}

impl std::error::Error for UnknownFault {}

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<Self, UnknownFault> {
        let found = Self::ALL.iter().copied().find(|fault| fault.name() == text);
        found.ok_or_else(|| UnknownFault(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_found_by_its_name() {
        for fault in Fault::ALL {
            assert_eq!(fault.name().parse(), Ok(*fault));
        }
        assert!("none".parse::<Fault>().is_err());
    }
}
