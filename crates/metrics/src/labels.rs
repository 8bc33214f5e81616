//! Labels whose values are known beforehand. The words are those of the answers and of the settings.

use crate::counter::Label;

macro_rules! label {
    ($(#[$doc:meta])* $name:ident $label:literal { $($(#[$value_doc:meta])* $value:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$value_doc])* $value,)*
        }

        impl Label for $name {
            const NAME: &'static str = $label;
            const VALUES: &'static [&'static str] = &[$($word),*];

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

label! {
    /// How a purchase request ended.
    Outcome "outcome" {
        /// A new ticket.
        Accepted "accepted",
        /// The ticket of an earlier request with the same key.
        Replayed "replayed",
        /// Too often.
        Limited "limited",
        /// No or bad token.
        Unauthenticated "unauthenticated",
        /// Body or id of the wrong form, or quantity out of range.
        Malformed "malformed",
        /// No such activity.
        UnknownActivity "unknown_activity",
        /// On a block list.
        Blocked "blocked",
        /// The sale or the entrance is paused.
        Paused "paused",
        /// Before the start.
        NotStarted "not_started",
        /// After the end.
        Ended "ended",
        /// Purchase token or challenge missing or wrong.
        ChallengeFailed "challenge_failed",
        /// The key came with another body before.
        KeyReused "key_reused",
        /// The user has a ticket.
        AlreadyTook "already_took",
        /// No units left.
        SoldOut "sold_out",
        /// Too many tickets wait for their order.
        BacklogFull "backlog_full",
        /// The store cannot admit now.
        NotReady "not_ready",
        /// Shed by overload, or the store cannot be reached.
        Busy "busy",
        /// Whether it was admitted is not known.
        OutcomeUnknown "outcome_unknown",
        /// A web page of an origin that may not write.
        ForeignOrigin "foreign_origin",
        /// A bug.
        Error "error",
    }
}

label! {
    /// Whose limit refused a request: the scopes of the answers, and what reads have in common.
    LimitScope "scope" {
        /// The client's address.
        Ip "ip",
        /// The user, per activity.
        User "user",
        /// The device.
        Device "device",
        /// The whole activity.
        Activity "activity",
        /// The whole node.
        Node "node",
        /// Polls and pages.
        Read "read",
    }
}

label! {
    /// Why a request was shed.
    ShedReason "reason" {
        /// Too many claims wait for the store.
        PendingFull "pending_full",
        /// A claim waited for the store longer than it may.
        WaitedTooLong "waited_too_long",
        /// The store cannot be reached, or answers too late.
        StoreUnreachable "store_unreachable",
        /// As many purchases are under way on the node as there may be.
        InFlight "in_flight",
        /// Only a share is let in: by the operator's word, or since the store is slow.
        AdmitRatio "admit_ratio",
        /// Every connection is taken.
        ConnectionsMax "connections_max",
        /// One address holds too many connections.
        ConnectionsPerIp "connections_per_ip",
        /// Every result stream is taken.
        StreamsMax "streams_max",
        /// The server is stopping.
        Draining "draining",
        /// Anything else.
        Other "other",
    }
}

label! {
    /// How a result is pushed.
    StreamKind "kind" {
        /// Server-sent events.
        Sse "sse",
        /// WebSocket.
        WebSocket "websocket",
    }
}
