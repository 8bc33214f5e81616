//! What servers and drivers say, in our own words: operators read what is the matter, and not a driver's text, which the log has as `cause`
//! at its level `debug`.

use std::io::{self, ErrorKind};

use sqlx::error::DatabaseError;
use sqlx::mysql::MySqlDatabaseError;

use super::errors::SqlError;
use crate::outages::LOCKED;

/// A sentence without what a driver or a server would say; with the server's code, by which its manual explains it.
pub(super) fn words(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => words_of_server(&**error),
        sqlx::Error::Io(error) => words_of_network(error).to_owned(),
        sqlx::Error::Tls(_) => "no TLS connection could be made".to_owned(),
        sqlx::Error::Protocol(_) => "the server's answer was not understood".to_owned(),
        sqlx::Error::Configuration(_) => "the connection can't be made as the address asks for it".to_owned(),
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::Encode(_) => {
            "a value can't be read or written as what it is".to_owned()
        }
        _ => "the connection broke off".to_owned(),
    }
}

fn words_of_network(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::ConnectionRefused => "connection refused",
        ErrorKind::TimedOut => "the connection timed out",
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => "the host can't be reached",
        ErrorKind::NotFound => "there is no such socket",
        // The standard library has no kind for it.
        _ if error.to_string().contains("lookup address") => "the host's name is not known",
        _ => "the connection was lost",
    }
}

fn words_of_server(error: &dyn DatabaseError) -> String {
    let (mut words, code) = match error.try_downcast_ref::<MySqlDatabaseError>() {
        Some(error) => (words_of_mysql(error.number()), format!("error {}", error.number())),
        None => {
            let code = error.code().unwrap_or_default();
            (words_of_postgres(&code), format!("SQLSTATE {code}"))
        }
    };
    let message = error.message();
    let name = error.constraint().or_else(|| named(message));
    let of = name.map(|name| format!(": {name}")).unwrap_or_default();
    if words.is_empty() {
        words = "the statement was refused";
    }
    format!("{words}{of} ({code})")
}

/// SQLSTATE.
fn words_of_postgres(code: &str) -> &'static str {
    match code {
        "28P01" => "access denied: wrong user or password",
        "28000" => "access denied: the server lets nobody in as this user from here",
        "3D000" => "unknown database",
        "53300" => "too many connections",
        "55P03" => LOCKED,
        "40P01" => "deadlock",
        "40001" => "another transaction was faster",
        "57014" => "the statement took too long",
        "25P03" => "the transaction stood still for too long and was undone",
        "57P01" | "57P02" => "the server ended the connection",
        "57P03" => "the server is starting or stopping",
        "25006" => "the server only reads",
        "53100" => "the server's disk is full",
        "53200" => "the server has too little memory",
        "42P01" => "a table is missing",
        "42703" => "a column is missing",
        "42501" => "permission denied",
        "23505" => "a key is taken",
        "23514" => "a rule is broken",
        "23503" => "a row that belongs to it is in the way or missing",
        "23502" => "a value is missing",
        "22001" | "54000" => "a value is too long",
        "22003" => "a number is out of range",
        "22021" => "a text is not in the database's encoding",
        _ => "",
    }
}

/// Numbers of MariaDB and MySQL.
fn words_of_mysql(number: u16) -> &'static str {
    match number {
        1045 | 1698 => "access denied: wrong user or password",
        1044 => "access denied: the user may not use this database",
        1130 => "access denied: the server lets nobody in from here",
        1129 => "access denied: the server has blocked this host after too many failures; FLUSH HOSTS lifts it",
        1049 => "unknown database",
        1040 | 1203 | 1226 => "too many connections",
        1205 => LOCKED,
        1213 => "deadlock",
        1020 | 1412 | 1615 | 3101 => "another transaction was faster",
        1317 | 1969 | 3024 => "the statement took too long",
        4031 => "the connection stood still for too long and was ended",
        1053 | 1927 => "the server ended the connection",
        1290 | 1792 | 1836 => "the server only reads",
        1021 | 1114 => "the server's disk is full",
        1037 | 1038 | 1041 => "the server has too little memory",
        1146 => "a table is missing",
        1054 => "a column is missing",
        1142 | 1143 | 1227 | 1370 => "permission denied",
        1062 | 1586 => "a key is taken",
        4025 | 3819 => "a rule is broken",
        1216 | 1217 | 1451 | 1452 => "a row that belongs to it is in the way or missing",
        1048 | 1364 => "a value is missing",
        1406 => "a value is too long",
        1264 | 1690 => "a number is out of range",
        1300 | 1366 | 3988 => "a text is not in the database's encoding",
        _ => "",
    }
}

/// Which rule, key or table a message is about, where it says so: ours have names that tell an operator more than a code.
fn named(message: &str) -> Option<&str> {
    let markers = [
        ("CONSTRAINT `", '`'),
        ("constraint '", '\''),
        ("for key '", '\''),
        ("for table ", ' '),
    ];
    markers.iter().find_map(|(before, end)| {
        let name = message.split_once(before)?.1.split(*end).next()?;
        let name = name.rsplit('.').next()?.trim_matches(['`', '\'', '"']);
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        Some(name).filter(|name| !name.is_empty() && name.chars().all(is_name))
    })
}

/// Whether the server has no connection left for us now.
pub(super) fn is_crowded(error: &SqlError) -> bool {
    is_one_of(error, &["53300"], &[1040, 1203, 1226])
}

/// Whether the server answered and does not let us in, and won't before somebody has changed something.
pub(super) fn is_final(error: &SqlError) -> bool {
    let postgres = ["28P01", "28000", "3D000", "42501"];
    is_one_of(error, &postgres, &[1044, 1045, 1049, 1129, 1130, 1142, 1698])
}

fn is_one_of(error: &SqlError, postgres: &[&str], mysql: &[u16]) -> bool {
    let SqlError::Driver(sqlx::Error::Database(error)) = error else {
        return false;
    };
    match error.try_downcast_ref::<MySqlDatabaseError>() {
        Some(error) => mysql.contains(&error.number()),
        None => error.code().is_some_and(|code| postgres.contains(&&*code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_its_rule_key_or_table() {
        for (message, name) in [
            (
                "CONSTRAINT `stock_is_not_oversold` failed for `shop`.`stock`",
                "stock_is_not_oversold",
            ),
            (
                "Check constraint 'stock_is_not_oversold' is violated.",
                "stock_is_not_oversold",
            ),
            ("Duplicate entry 'a b' for key 'orders_number'", "orders_number"),
            ("Duplicate entry 'a' for key 'orders.orders_number'", "orders_number"),
            (
                "INSERT command denied to user 'a'@'h' for table `shop`.`orders`",
                "orders",
            ),
            ("permission denied for table orders", "orders"),
        ] {
            assert_eq!(named(message), Some(name), "{message}");
        }
        assert_eq!(named("Access denied for user 'a'@'h' (using password: YES)"), None);
    }

    #[test]
    fn a_network_that_fails_is_told_by_what_it_did() {
        for (kind, words) in [
            (ErrorKind::ConnectionRefused, "connection refused"),
            (ErrorKind::ConnectionReset, "the connection was lost"),
            (ErrorKind::UnexpectedEof, "the connection was lost"),
            (ErrorKind::TimedOut, "the connection timed out"),
        ] {
            assert_eq!(words_of_network(&kind.into()), words);
        }
    }
}
