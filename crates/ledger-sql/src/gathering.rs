//! A statement that takes the columns of many rows as one parameter each.

/// Its text, and what its parameters are.
#[derive(Debug)]
pub(crate) struct Gathering {
    pub(crate) sql: String,
    pub(crate) columns: Columns,
}

/// How many parameters all rows share, and how many each row has of its own, which come behind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) shared: usize,
    pub(crate) own: usize,
}

impl Columns {
    /// The parameter that takes the value which a statement for single rows has at `place`. Both count from 1.
    pub(crate) const fn gathered(self, place: usize) -> usize {
        if place <= self.shared {
            return place;
        }
        self.shared + 1 + (place - 1 - self.shared) % self.own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_rows_go_to_their_columns_and_shared_ones_stay() {
        let columns = Columns { shared: 2, own: 3 };
        let gathered: Vec<usize> = (1..=8).map(|place| columns.gathered(place)).collect();
        assert_eq!(gathered, [1, 2, 3, 4, 5, 3, 4, 5]);
    }
}
