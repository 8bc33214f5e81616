//! The phases of a connection and how the sweep may end it.
//!
//! ```text
//!            first byte         head complete         answer ended
//!   Fresh ───────────────▶ Head ─────────────▶ Busy ───────────────▶ Idle
//!                           ▲                    ▲                    │ │
//!                           └──── first byte ────┼────────────────────┘ │
//!                                                └── pipelined head ────┘
//! ```

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Nothing was received yet.
    Fresh,
    /// A head has begun.
    Head,
    /// A request is with the service, or its answer is being sent.
    Busy,
    /// Kept alive between two requests.
    Idle,
    /// No longer HTTP: only stalled writes are watched.
    Upgraded,
}

impl Phase {
    /// The phase whose discriminant is `byte`.
    pub(crate) fn stored_as(byte: u8) -> Self {
        match byte {
            0 => Self::Fresh,
            1 => Self::Head,
            2 => Self::Busy,
            3 => Self::Idle,
            _ => Self::Upgraded,
        }
    }
}

/// Why the sweep ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Verdict {
    /// Silent for too long: closed without a word.
    Silent = 1,
    /// The head didn't arrive in time: 408.
    SlowHead = 2,
    /// The client took nothing of what was written: reset.
    Stalled = 3,
}

impl Verdict {
    /// The verdict whose discriminant is `byte`; 0 stands for none yet.
    pub(crate) fn stored_as(byte: u8) -> Option<Self> {
        match byte {
            0 => None,
            1 => Some(Self::Silent),
            2 => Some(Self::SlowHead),
            _ => Some(Self::Stalled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_survives_being_stored() {
        for phase in [Phase::Fresh, Phase::Head, Phase::Busy, Phase::Idle, Phase::Upgraded] {
            assert_eq!(Phase::stored_as(phase as u8), phase);
        }
        for verdict in [Verdict::Silent, Verdict::SlowHead, Verdict::Stalled] {
            assert_eq!(Verdict::stored_as(verdict as u8), Some(verdict));
        }
        assert_eq!(Verdict::stored_as(0), None);
    }
}
