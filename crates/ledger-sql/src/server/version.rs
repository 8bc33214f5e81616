//! Which server it is, and whether the tests were run on one like it.

use seckill_sale::{Finding, Severity};

use super::translate::Family;

/// Oldest versions that the tests were run on.
const POSTGRES_TESTED: [u32; 2] = [15, 0];
const MARIADB_TESTED: [u32; 2] = [10, 11];

/// `said` begins with the number: `PostgreSQL 15.8 (Debian …)`, `10.11.14-MariaDB-…`, `8.0.40`.
pub(super) fn version(family: Family, said: &str) -> Finding {
    let words = said.trim_start_matches("PostgreSQL ");
    let mut numbers = words
        .split(|letter: char| !letter.is_ascii_digit())
        .map(|number| number.parse().unwrap_or(0));
    let present: [u32; 2] = [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)];
    let (name, tested) = match family {
        Family::Postgres => ("PostgreSQL", POSTGRES_TESTED),
        Family::MySql if said.contains("MariaDB") => ("MariaDB", MARIADB_TESTED),
        Family::MySql => {
            let sentence = format!("MySQL {said}: written for what it shares with MariaDB, and not tested on it");
            return Finding::new("version", Severity::Warning, sentence);
        }
    };
    let [major, minor] = present;
    if tested <= present {
        return Finding::new("version", Severity::Passed, format!("{name} {major}.{minor}"));
    }
    let [least, point] = tested;
    let sentence = format!("{name} {major}.{minor} is older than {least}.{point}, the oldest that was tested");
    Finding::new("version", Severity::Warning, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(family: Family, said: &str, severity: Severity, part: &str) {
        let finding = version(family, said);
        assert_eq!(finding.severity, severity, "{finding:?}");
        assert!(finding.sentence.contains(part), "{finding:?}");
    }

    #[test]
    fn old_versions_and_untested_servers_are_told_of() {
        check(
            Family::Postgres,
            "PostgreSQL 15.8 (Debian 15.8-0+deb12u1) on",
            Severity::Passed,
            "PostgreSQL 15.8",
        );
        check(
            Family::Postgres,
            "PostgreSQL 14.12 on x86_64",
            Severity::Warning,
            "older than 15.0",
        );
        check(
            Family::MySql,
            "10.11.14-MariaDB-0+deb12u2",
            Severity::Passed,
            "MariaDB 10.11",
        );
        check(Family::MySql, "10.6.18-MariaDB", Severity::Warning, "older than 10.11");
        check(Family::MySql, "8.0.40", Severity::Warning, "not tested");
    }
}
