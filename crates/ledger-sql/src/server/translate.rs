//! The shared queries' text as a server wants it: each family writes parameters in its own way.

use std::sync::Arc;

/// Whose words are spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Postgres,
    /// MariaDB, and what both it and MySQL understand.
    MySql,
}

/// A query as the server gets it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Translated {
    pub(super) sql: Arc<str>,
    /// Which of the query's parameters, counted from 1, each place of the text wants, in the order in which they are sent.
    pub(super) places: Vec<usize>,
}

/// Numbers parameters by their first use (PostgreSQL) or repeats them at each use (MySQL), and puts the few words in their place on
/// which the families do not agree.
pub(super) fn translate(family: Family, query: &str) -> Translated {
    let query = match family {
        Family::Postgres => query.to_owned(),
        Family::MySql => words_of_mysql(query),
    };
    let mut sql = String::with_capacity(query.len() + 16);
    let mut places: Vec<usize> = Vec::new();
    let mut rest = query.as_str();
    while let Some(at) = rest.find('?') {
        sql.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let place: usize = rest[..digits].parse().expect("each parameter of a query has a number");
        rest = &rest[digits..];
        match family {
            Family::MySql => {
                places.push(place);
                sql.push('?');
            }
            Family::Postgres => {
                let known = places.iter().position(|known| *known == place);
                let number = known.unwrap_or_else(|| {
                    places.push(place);
                    places.len() - 1
                });
                sql.push('$');
                sql.push_str(&(number + 1).to_string());
            }
        }
    }
    sql.push_str(rest);
    Translated {
        sql: sql.into(),
        places,
    }
}

fn words_of_mysql(query: &str) -> String {
    query
        .replace(" AS BIGINT)", " AS SIGNED)")
        // Not INSERT IGNORE, which would cut a value that is too long.
        .replace(
            "ON CONFLICT (activity_id, user_id) DO NOTHING",
            "ON DUPLICATE KEY UPDATE user_id = records.user_id",
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(family: Family, query: &str, sql: &str, places: &[usize]) {
        let translated = translate(family, query);
        assert_eq!((&*translated.sql, &*translated.places), (sql, places));
    }

    #[test]
    fn postgres_numbers_parameters_without_gaps() {
        let query = "SELECT a FROM t WHERE b < ?1 AND c = ?4 OR b = ?1 LIMIT ?2";
        let expect = "SELECT a FROM t WHERE b < $1 AND c = $2 OR b = $1 LIMIT $3";
        check(Family::Postgres, query, expect, &[1, 4, 2]);
    }

    #[test]
    fn mysql_repeats_a_parameter_at_each_use() {
        let query = "SELECT CAST(sum(a) AS BIGINT) FROM t WHERE b < ?2 OR c = ?1 OR b = ?2";
        let expect = "SELECT CAST(sum(a) AS SIGNED) FROM t WHERE b < ? OR c = ? OR b = ?";
        check(Family::MySql, query, expect, &[2, 1, 2]);
    }
}
