//! A map whose keys mostly ascend by one and mostly leave in the order in which they came: the tickets of a queue.
//!
//! Values lie in chunks of neighbours, the newest chunk at hand and the others in a tree, so that adding the next ticket costs the same
//! however many wait. A chunk whose last value leaves goes with it. Keys may come in any order; a straggler costs its whole chunk.

use std::collections::BTreeMap;
use std::{array, iter};

/// Neighbours of a chunk.
const SLOTS: u64 = 16;

#[derive(Debug)]
struct Chunk<T> {
    number: u64,
    /// A bit for each slot that holds a value.
    held: u16,
    slots: [Option<T>; SLOTS as usize],
}

impl<T> Chunk<T> {
    fn empty(number: u64) -> Box<Self> {
        Box::new(Self {
            number,
            held: 0,
            slots: array::from_fn(|_| None),
        })
    }

    /// What it holds from `from` on, in order.
    fn values(&self, from: u64) -> impl Iterator<Item = (u64, &T)> {
        let first = self.number * SLOTS;
        let passed = from.saturating_sub(first).min(SLOTS) as u32;
        let mut left = u32::from(self.held) >> passed << passed;
        iter::from_fn(move || {
            let slot = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some((first + slot as u64, self.slots[slot].as_ref()?))
        })
    }
}

const fn chunk_of(key: u64) -> u64 {
    key / SLOTS
}

const fn slot_of(key: u64) -> usize {
    (key % SLOTS) as usize
}

const fn bit_of(key: u64) -> u16 {
    1 << (key % SLOTS)
}

/// The map.
#[derive(Debug)]
pub(crate) struct Sequenced<T> {
    /// All but the newest; none is empty.
    older: BTreeMap<u64, Box<Chunk<T>>>,
    /// The chunk with the highest number that ever held a value.
    newest: Box<Chunk<T>>,
    len: usize,
}

impl<T> Default for Sequenced<T> {
    fn default() -> Self {
        Self {
            older: BTreeMap::new(),
            newest: Chunk::empty(0),
            len: 0,
        }
    }
}

impl<T> Sequenced<T> {
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Adds a value, or replaces the one that was there.
    pub(crate) fn insert(&mut self, key: u64, value: T) {
        let number = chunk_of(key);
        if self.newest.number < number {
            let before = std::mem::replace(&mut self.newest, Chunk::empty(number));
            if before.held != 0 {
                self.older.insert(before.number, before);
            }
        }
        let chunk = if number == self.newest.number {
            &mut self.newest
        } else {
            self.older.entry(number).or_insert_with(|| Chunk::empty(number))
        };
        if chunk.slots[slot_of(key)].replace(value).is_none() {
            chunk.held |= bit_of(key);
            self.len += 1;
        }
    }

    pub(crate) fn get(&self, key: u64) -> Option<&T> {
        let number = chunk_of(key);
        let chunk = if number == self.newest.number {
            &self.newest
        } else {
            self.older.get(&number)?
        };
        chunk.slots[slot_of(key)].as_ref()
    }

    pub(crate) fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        let number = chunk_of(key);
        let chunk = if number == self.newest.number {
            &mut self.newest
        } else {
            self.older.get_mut(&number)?
        };
        chunk.slots[slot_of(key)].as_mut()
    }

    pub(crate) fn remove(&mut self, key: u64) -> Option<T> {
        let number = chunk_of(key);
        let is_newest = number == self.newest.number;
        let chunk = if is_newest {
            &mut self.newest
        } else {
            self.older.get_mut(&number)?
        };
        let value = chunk.slots[slot_of(key)].take()?;
        chunk.held &= !bit_of(key);
        self.len -= 1;
        if chunk.held == 0 && !is_newest {
            self.older.remove(&number);
        }
        Some(value)
    }

    /// The value with the lowest key.
    pub(crate) fn first(&self) -> Option<(u64, &T)> {
        let oldest = self.older.first_key_value().map_or(&self.newest, |(_, chunk)| chunk);
        oldest.values(0).next()
    }

    /// The values from key `from` on, in order.
    pub(crate) fn from(&self, from: u64) -> impl Iterator<Item = (u64, &T)> {
        let older = self.older.range(chunk_of(from)..).map(|(_, chunk)| chunk);
        older.chain([&self.newest]).flat_map(move |chunk| chunk.values(from))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(map: &Sequenced<u64>, from: u64) -> Vec<u64> {
        map.from(from).map(|(key, _)| key).collect()
    }

    #[test]
    fn what_leaves_in_order_leaves_no_chunk_behind() {
        let mut map = Sequenced::default();
        for key in 1..=10 * SLOTS {
            map.insert(key, key);
        }
        for key in 1..=10 * SLOTS {
            assert_eq!(map.first(), Some((key, &key)));
            assert_eq!(map.remove(key), Some(key));
            assert_eq!(map.remove(key), None);
        }
        assert_eq!((map.len(), map.older.len(), map.first()), (0, 0, None));
    }

    proptest! {
        #[test]
        fn it_is_a_map_whatever_the_order_of_its_keys(steps in prop::collection::vec((0_u64..200, 0_u8..3), 0..400)) {
            let mut map = Sequenced::default();
            let mut model = BTreeMap::new();
            for (at, (key, step)) in (0_u64..).zip(steps) {
                match step {
                    0 => prop_assert_eq!(map.remove(key), model.remove(&key)),
                    1 => {
                        // As most keys come: the next one.
                        let next = model.last_key_value().map_or(0, |(&last, _)| last + 1);
                        map.insert(next, at);
                        model.insert(next, at);
                    }
                    _ => {
                        map.insert(key, at);
                        model.insert(key, at);
                    }
                }
                prop_assert_eq!(map.len(), model.len());
                prop_assert_eq!(map.get(key), model.get(&key));
                prop_assert_eq!(map.get_mut(key), model.get_mut(&key));
                prop_assert_eq!(map.first().map(|(key, &value)| (key, value)), model.first_key_value().map(|(&k, &v)| (k, v)));
                prop_assert_eq!(keys(&map, key), model.range(key..).map(|(&key, _)| key).collect::<Vec<_>>());
            }
        }
    }
}
