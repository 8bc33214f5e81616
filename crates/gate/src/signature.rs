//! What the gate is told of a client's signature, which somebody else has looked at: body and store are not its matter.

use crate::charge::Charge;
use crate::identity::clients::Vouched;

/// What the signature of a client came to. A request has no identity unless it is good, whatever else it carries.
#[derive(Debug)]
pub enum Signature {
    /// It is right, and the store has seen its nonce for the first time.
    Good(Vouched),
    /// No client can have made it ([`crate::Clients::may_have_signed`]), so nothing else was looked at. The address is counted in its turn.
    Malformed,
    /// It is wrong, or used. To find that out cost something, which the address has paid.
    Bad(Charge),
}
