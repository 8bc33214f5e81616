//! What happened, step by step: the last lines for people, and a digest of all lines to tell whether two runs were the same.

use std::collections::VecDeque;

/// Lines of a run.
#[derive(Debug)]
pub(crate) struct Trace {
    lines: VecDeque<String>,
    lines_max: usize,
    digest: u64,
}

impl Trace {
    /// Keeps the last `lines_max` lines.
    pub(crate) const fn new(lines_max: usize) -> Self {
        Self {
            lines: VecDeque::new(),
            lines_max,
            digest: 0xCBF2_9CE4_8422_2325,
        }
    }

    pub(crate) fn note(&mut self, line: String) {
        for byte in line.bytes().chain([b'\n']) {
            // FNV-1a.
            self.digest = (self.digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
        if self.lines_max <= self.lines.len() {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    pub(crate) const fn digest(&self) -> u64 {
        self.digest
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.iter().cloned().collect()
    }
}
