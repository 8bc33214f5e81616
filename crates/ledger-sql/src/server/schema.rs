//! What the tables must have, read from the migrations themselves, and whether they have it: keys and rules are what stands between two
//! workers and a second order, and somebody may have dropped one, or restored tables without them.
//!
//! It knows the few forms that the migrations are written in, and compares names; what a rule of the right name says is not looked at.

use std::collections::HashSet;

use super::errors::Stop;
use super::rows::Row;
use super::session::Session;
use super::translate::Family;

/// Something that must be there.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    /// How the database lists it.
    mark: String,
    /// What makes it where it is missing.
    statement: String,
}

/// Statements that make what is missing; empty where nothing is.
pub(super) fn repairs(session: &mut Session, migrations: &[&str]) -> Result<Vec<String>, Stop> {
    let family = session.family();
    let translated = session.translated(match family {
        Family::Postgres => PRESENT_POSTGRES,
        Family::MySql => PRESENT_MYSQL,
    });
    let rows = session.rows(&translated, &[])?;
    let names = rows.into_iter().map(|row| Row::from(row).get(0));
    let present: HashSet<String> = names.collect::<Result<_, _>>()?;
    let parts = migrations.iter().flat_map(|sql| parts(family, sql));
    let missing = parts.filter(|part| !present.contains(&part.mark));
    Ok(missing.map(|part| part.statement).collect())
}

const PRESENT_POSTGRES: &str = "SELECT t.relname || '.' || c.conname FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
        WHERE t.relnamespace = current_schema()::regnamespace AND c.convalidated
    UNION SELECT t.relname || '.' || i.relname FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
        WHERE t.relnamespace = current_schema()::regnamespace AND x.indisvalid
    UNION SELECT table_name || '.' || column_name || ' ' || collation_name FROM information_schema.columns
        WHERE table_schema = current_schema() AND collation_name IS NOT NULL";

/// As bytes: MySQL 8 gives its names collations that do not go together.
const PRESENT_MYSQL: &str = "SELECT concat(CAST(table_name AS BINARY), '.', CAST(constraint_name AS BINARY))
        FROM information_schema.table_constraints WHERE table_schema = database()
    UNION SELECT concat(CAST(table_name AS BINARY), '.', CAST(index_name AS BINARY))
        FROM information_schema.statistics WHERE table_schema = database()
    UNION SELECT concat(CAST(table_name AS BINARY), '.', CAST(column_name AS BINARY), ' ', CAST(column_type AS BINARY))
        FROM information_schema.columns WHERE table_schema = database()
    UNION SELECT concat(CAST(table_name AS BINARY), ' ', CAST(lower(engine) AS BINARY))
        FROM information_schema.tables WHERE table_schema = database()";

/// All parts of one migration.
fn parts(family: Family, sql: &str) -> Vec<Part> {
    let lines = sql.lines().map(|line| line.split("--").next().unwrap_or_default());
    let text: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let text = text.join(" ");
    text.split(';')
        .flat_map(|statement| parts_of_statement(family, statement.trim()))
        .collect()
}

fn parts_of_statement(family: Family, statement: &str) -> Vec<Part> {
    let index = statement
        .strip_prefix("CREATE UNIQUE INDEX ")
        .or_else(|| statement.strip_prefix("CREATE INDEX "));
    if let Some((name, rest)) = index.and_then(|rest| rest.split_once(" ON ")) {
        let table = rest.split(' ').next().unwrap_or_default();
        return vec![Part {
            mark: format!("{table}.{name}"),
            statement: statement.to_owned(),
        }];
    }
    let Some(rest) = statement.strip_prefix("CREATE TABLE ") else {
        return Vec::new();
    };
    let rest = rest.strip_prefix("IF NOT EXISTS ").unwrap_or(rest);
    let (Some((table, rest)), Some(end)) = (rest.split_once(" ("), rest.rfind(')')) else {
        return Vec::new();
    };
    let body = &rest[..end - table.len() - 2];
    let mut parts: Vec<Part> = items(body)
        .flat_map(|item| parts_of_item(family, table, item.trim()))
        .collect();
    if family == Family::MySql {
        parts.push(Part {
            mark: format!("{table} innodb"),
            statement: format!("ALTER TABLE {table} ENGINE = InnoDB"),
        });
    }
    parts
}

/// What commas outside of all brackets separate.
fn items(body: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    body.split(move |letter| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    })
}

/// A rule, a key, or a column with the rules that it brings.
fn parts_of_item(family: Family, table: &str, item: &str) -> Vec<Part> {
    let part = |name: &str, statement: String| Part {
        mark: format!("{table}.{name}"),
        statement: format!("ALTER TABLE {table} {statement}"),
    };
    let primary = match family {
        Family::Postgres => format!("{table}_pkey"),
        Family::MySql => "PRIMARY".to_owned(),
    };
    let mut words = item.split(' ');
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match first {
        "CONSTRAINT" | "INDEX" => return vec![part(second, format!("ADD {item}"))],
        "PRIMARY" => return vec![part(&primary, format!("ADD {item}"))],
        _ => {}
    }
    let mut parts = Vec::new();
    if item.contains(" PRIMARY KEY") {
        parts.push(part(&primary, format!("ADD PRIMARY KEY ({first})")));
    }
    if let Some((_, to)) = item.split_once(" REFERENCES ") {
        let name = format!("{table}_{first}_fkey");
        parts.push(part(&name, format!("ADD FOREIGN KEY ({first}) REFERENCES {to}")));
    }
    // Ids and words are compared byte by byte.
    if second.contains("BINARY(") && !item.contains(" AS (") {
        let mark = format!("{first} {}", second.to_lowercase());
        let column = item.replace(" PRIMARY KEY", "");
        parts.push(part(&mark, format!("MODIFY {column}")));
    }
    if item.contains(r#" COLLATE "C""#) {
        let change = format!(r#"ALTER COLUMN {first} TYPE {second} COLLATE "C""#);
        parts.push(part(&format!("{first} C"), change));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_with_what_makes_them() {
        let sql = r#"CREATE TABLE songs ( -- sung
            id BIGINT PRIMARY KEY REFERENCES books (id),
            title TEXT COLLATE "C" NOT NULL, -- one, two
            CONSTRAINT songs_title UNIQUE (title, id),
            CONSTRAINT songs_have_one CHECK (id IN (1, 2)
                OR id = 3)
        );
        CREATE INDEX songs_by_id ON songs (id) WHERE id = 1;"#;
        let parts = parts(Family::Postgres, sql);
        let said: Vec<(&str, &str)> = parts.iter().map(|part| (&*part.mark, &*part.statement)).collect();
        assert_eq!(
            said,
            [
                ("songs.songs_pkey", "ALTER TABLE songs ADD PRIMARY KEY (id)"),
                (
                    "songs.songs_id_fkey",
                    "ALTER TABLE songs ADD FOREIGN KEY (id) REFERENCES books (id)"
                ),
                (
                    "songs.title C",
                    r#"ALTER TABLE songs ALTER COLUMN title TYPE TEXT COLLATE "C""#
                ),
                (
                    "songs.songs_title",
                    "ALTER TABLE songs ADD CONSTRAINT songs_title UNIQUE (title, id)"
                ),
                (
                    "songs.songs_have_one",
                    "ALTER TABLE songs ADD CONSTRAINT songs_have_one CHECK (id IN (1, 2) OR id = 3)"
                ),
                (
                    "songs.songs_by_id",
                    "CREATE INDEX songs_by_id ON songs (id) WHERE id = 1"
                ),
            ]
        );
    }
}
