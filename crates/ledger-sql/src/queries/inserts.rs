//! Many rows by one statement, in a few fixed sizes so that each statement is prepared once.

use std::sync::LazyLock;

use super::db::{CachedStatement, Statement, Transaction};
use super::dialect::{self, INSERT_SIZES};
use super::errors::Stop;
use crate::gathering::{Columns, Gathering};

/// The same statement in each size, and for any number of rows.
pub(super) struct Sizes {
    by_size: [String; INSERT_SIZES.len()],
    gathering: Gathering,
}

impl Sizes {
    /// `row` writes the placeholders of one row behind the shared ones; the first of its own has the number it is given. `gathering` is the
    /// same with the columns of all rows as arrays.
    pub(super) fn new(
        head: &str,
        [shared, own]: [usize; 2],
        row: impl Fn(usize) -> String,
        tail: &str,
        gathering: &str,
    ) -> Self {
        let by_size = INSERT_SIZES.map(|size| {
            let rows: Vec<String> = (0..size).map(|place| row(shared + 1 + place * own)).collect();
            format!("{head}{}{tail}", rows.join(", "))
        });
        let sql = gathering.to_owned();
        Self {
            by_size,
            gathering: Gathering {
                sql,
                columns: Columns { shared, own },
            },
        }
    }

    /// Calls `run` for each slice of `rows` with the statement of its size.
    pub(super) fn each<'a, T>(
        &self,
        transaction: &Transaction<'_>,
        rows: &'a [T],
        mut run: impl FnMut(&mut CachedStatement<'_>, &'a [T]) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if rows.is_empty() {
            return Ok(());
        }
        if let Some(mut statement) = dialect::gathering(transaction, &self.gathering)? {
            return run(&mut statement, rows);
        }
        let mut rest = rows;
        for (&size, sql) in INSERT_SIZES.iter().zip(&self.by_size) {
            if rest.len() < size {
                continue;
            }
            let mut statement = transaction.prepare_cached(sql)?;
            while size <= rest.len() {
                let (slice, behind) = rest.split_at(size);
                run(&mut statement, slice)?;
                rest = behind;
            }
        }
        Ok(())
    }
}

/// Binds parameters one after the other.
pub(super) struct Binder<'a, 'c> {
    statement: &'a mut Statement<'c>,
    next: usize,
}

impl<'a, 'c> Binder<'a, 'c> {
    pub(super) fn new(statement: &'a mut Statement<'c>) -> Self {
        Self { statement, next: 1 }
    }

    pub(super) fn bind(&mut self, value: impl super::db::ToSql) -> Result<(), Stop> {
        self.statement.raw_bind_parameter(self.next, value)?;
        self.next += 1;
        Ok(())
    }

    pub(super) fn execute(self) -> Result<(), Stop> {
        self.statement.raw_execute()?;
        Ok(())
    }
}

/// Orders: what all rows of a batch share stands in the first six parameters.
pub(super) static ORDERS: LazyLock<Sizes> = LazyLock::new(|| {
    Sizes::new(
        "INSERT INTO orders (activity_id, product_id, price_cents, currency, created_at, pay_deadline, state,
            order_no, user_id, quantity, amount_cents) VALUES ",
        [6, 4],
        |own| {
            format!(
                "(?1, ?2, ?3, ?4, ?5, ?6, 0, ?{own}, ?{}, ?{}, ?{})",
                own + 1,
                own + 2,
                own + 3
            )
        },
        "",
        "INSERT INTO orders (activity_id, product_id, price_cents, currency, created_at, pay_deadline, state,
            order_no, user_id, quantity, amount_cents)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, 0, own.* FROM unnest(?7, ?8, ?9, ?10) AS own",
    )
});

/// Records: activity, state and reason are shared.
pub(super) static RECORDS: LazyLock<Sizes> = LazyLock::new(|| {
    Sizes::new(
        "INSERT INTO records (activity_id, state, reason, user_id, epoch, sequence, quantity, request_key, accepted_at) VALUES ",
        [3, 6],
        |own| {
            let rest: String = (own + 1..own + 6).map(|number| format!(", ?{number}")).collect();
            format!("(?1, ?2, ?3, ?{own}{rest})")
        },
        "",
        "INSERT INTO records (activity_id, state, reason, user_id, epoch, sequence, quantity, request_key, accepted_at)
         SELECT ?1, ?2, ?3, own.* FROM unnest(?4, ?5, ?6, ?7, ?8, ?9) AS own",
    )
});

/// Records of some users; the activity is shared.
pub(super) static RECORDS_OF: LazyLock<Sizes> = LazyLock::new(|| {
    Sizes::new(
        "SELECT user_id, activity_id, epoch, sequence, state, reason FROM records WHERE activity_id = ?1 AND user_id IN (",
        [1, 1],
        |own| format!("?{own}"),
        ")",
        "SELECT user_id, activity_id, epoch, sequence, state, reason FROM records WHERE activity_id = ?1 AND user_id = ANY (?2)",
    )
});
