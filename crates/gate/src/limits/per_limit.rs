//! One of something for each limit that an operator may switch: they are listed here, and nowhere else in the gate.

use serde::{Deserialize, Serialize};

macro_rules! per_limit {
    ($($(#[doc = $doc:literal])* $limit:ident,)*) => {
        /// A `T` for each limit of the buy and token routes. It is written down with all of them, and read with any.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default, bound(deserialize = "T: Deserialize<'de> + Default"))]
        pub struct PerLimit<T> {
            $($(#[doc = $doc])* pub $limit: T,)*
        }

        impl<T> PerLimit<T> {
            /// The same for each.
            #[must_use]
            pub const fn all(same: T) -> Self
            where
                T: Copy,
            {
                Self { $($limit: same,)* }
            }

            /// What `of` makes of each.
            #[must_use]
            pub fn map<U>(self, mut of: impl FnMut(T) -> U) -> PerLimit<U> {
                PerLimit { $($limit: of(self.$limit),)* }
            }

            /// Each beside the other's.
            #[must_use]
            pub fn zip<U>(self, other: PerLimit<U>) -> PerLimit<(T, U)> {
                PerLimit { $($limit: (self.$limit, other.$limit),)* }
            }

            /// Each by reference.
            #[must_use]
            pub const fn as_ref(&self) -> PerLimit<&T> {
                PerLimit { $($limit: &self.$limit,)* }
            }

            /// Each with its name, as it is written down.
            pub fn named(self) -> impl Iterator<Item = (&'static str, T)> {
                [$((stringify!($limit), self.$limit),)*].into_iter()
            }
        }
    };
}

per_limit! {
    /// Of one address.
    ip,
    /// Of one network: 256 IPv4 addresses, or 2^16 times the 64 bits that an IPv6 customer has.
    network,
    /// Of one user in one activity.
    user,
    /// Of one device.
    device,
    /// Of all buyers of an activity together: purchases that would go on to the store.
    activity,
    /// Of all buyers of this node together: the same.
    node,
}
