//! The one function inside of which callgrind counts.

use std::hint::black_box;

/// Does `work`. The counter is switched on while this function runs; its name must stay the one that `xtask` looks for, and it must stay
/// a function of its own: neither inlined nor left by a jump.
///
/// # Errors
/// Those of `work`.
#[inline(never)]
pub fn counted(work: &mut dyn FnMut() -> anyhow::Result<usize>) -> anyhow::Result<usize> {
    black_box(black_box(work)())
}
