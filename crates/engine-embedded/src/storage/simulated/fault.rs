//! What an operation of the simulated disk may meet.

/// What happens to one operation instead of its success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It fails as on a broken disk.
    Broken,
    /// It fails as on a full disk, where it may need space at all.
    Full,
    /// A read or write moves one byte only.
    Short,
    /// A read or write is interrupted by a signal before it moved a byte.
    Interrupted,
    /// It is done, but nothing of it synced, and then the power fails; see [`super::Simulated::cut_power`].
    PowerLoss,
}
