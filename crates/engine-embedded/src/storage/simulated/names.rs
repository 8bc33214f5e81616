//! The simulated folder: the names in force, and those that a power loss would leave.

use std::collections::BTreeMap;
use std::io;

use super::state::Random;

#[derive(Debug, Default)]
pub(super) struct Names {
    current: BTreeMap<String, u64>,
    durable: BTreeMap<String, u64>,
    /// Changes since the last sync, in order.
    pending: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    Link { name: String, number: u64 },
    Unlink { name: String, number: u64 },
    Rename { from: String, to: String, number: u64 },
}

impl Names {
    pub(super) fn list(&self) -> Vec<String> {
        self.current.keys().cloned().collect()
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.current.values().copied()
    }

    pub(super) fn get(&self, name: &str) -> Option<u64> {
        self.current.get(name).copied()
    }

    pub(super) fn link(&mut self, name: &str, number: u64) {
        self.change(Change::Link {
            name: name.to_owned(),
            number,
        });
    }

    pub(super) fn unlink(&mut self, name: &str) -> io::Result<()> {
        let number = self.get(name).ok_or(io::ErrorKind::NotFound)?;
        self.change(Change::Unlink {
            name: name.to_owned(),
            number,
        });
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        let number = self.get(from).ok_or(io::ErrorKind::NotFound)?;
        self.change(Change::Rename {
            from: from.to_owned(),
            to: to.to_owned(),
            number,
        });
        Ok(())
    }

    pub(super) fn sync(&mut self) {
        self.pending.clear();
        self.durable.clone_from(&self.current);
    }

    pub(super) fn lose_power(&mut self, random: &mut Random) {
        for change in std::mem::take(&mut self.pending) {
            if random.coin() {
                change.apply(&mut self.durable);
            }
        }
        self.current.clone_from(&self.durable);
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.current);
        self.pending.push(change);
    }
}

impl Change {
    fn apply(&self, names: &mut BTreeMap<String, u64>) {
        // A removal is of one file: it must not hit another of the name when a change between them was lost.
        let mut remove = |name: &str, number| {
            if names.get(name) == Some(&number) {
                names.remove(name);
            }
        };
        match self {
            Self::Link { name, number } => _ = names.insert(name.clone(), *number),
            Self::Unlink { name, number } => remove(name, *number),
            Self::Rename { from, to, number } => {
                remove(from, *number);
                names.insert(to.clone(), *number);
            }
        }
    }
}
