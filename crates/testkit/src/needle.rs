//! Counts a word in a stream that comes in pieces.

/// What was seen of the stream's end, where a word may have begun.
#[derive(Debug, Default)]
pub(crate) struct Needle {
    tail: Vec<u8>,
}

impl Needle {
    /// How often `word` ends within `bytes`, which follow what was seen before.
    pub(crate) fn count(&mut self, word: &[u8], bytes: &[u8]) -> usize {
        let mut seen = std::mem::take(&mut self.tail);
        let overlap = seen.len().min(word.len() - 1);
        seen.drain(..seen.len() - overlap);
        seen.extend_from_slice(bytes);
        let count = seen.windows(word.len()).filter(|window| *window == word).count();
        let kept = seen.len().min(word.len() - 1);
        self.tail = seen.split_off(seen.len() - kept);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_across_pieces_and_once() {
        let text = b"xCOMMITyCOMCOMMIT;COMMI";
        for size in 1..text.len() {
            let mut needle = Needle::default();
            let count: usize = text.chunks(size).map(|piece| needle.count(b"COMMIT", piece)).sum();
            assert_eq!(count, 2, "pieces of {size}");
        }
    }
}
