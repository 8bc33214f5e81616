//! What no text file of ours may name: one machine's folders and the hosts of package registries.
//!
//! Both make a clone work in one place and fail in the next. `Cargo.lock` is cargo's own and is left
//! alone. Every needle is spelled in two halves, so that this file is clean itself.

use super::{Problem, TextFile};

/// Folders that exist on somebody's machine and not on the reader's.
const MACHINE_FOLDERS: &[&str] = &[concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/ho", "me/")];

/// Clients have the host in their own settings, and people may have a mirror there.
const REGISTRY_HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("registry.npm", "js.org"),
    concat!("npm", "js.com"),
    concat!("pypi", ".org"),
    concat!("python", "hosted.org"),
    concat!("deb.de", "bian.org"),
    concat!("security.de", "bian.org"),
];

/// With `omit-lockfile-registry-resolved=true` in `.npmrc`, npm does not write it.
const RESOLVED: &str = concat!("\"reso", "lved\": \"http");

/// Looks at one text file.
pub(super) fn check(file: &TextFile) -> Vec<Problem> {
    if file.path == "Cargo.lock" {
        return Vec::new();
    }
    let mut problems = Vec::new();
    let is_npm_lock = file.path.ends_with("package-lock.json");
    for (at, line) in file.text.lines().enumerate() {
        let mut found = |sentence: String| {
            problems.push(Problem::in_line(&file.path, at + 1, sentence));
        };
        if let Some(folder) = MACHINE_FOLDERS.iter().find(|folder| starts_a_path(line, folder)) {
            found(format!("names a folder of one machine: `{folder}`"));
        }
        if let Some(host) = REGISTRY_HOSTS.iter().find(|host| line.contains(**host)) {
            found(format!("names a registry's host: `{host}`"));
        }
        if is_npm_lock && line.contains(RESOLVED) {
            found("npm's lock file names the host that a package came from".to_owned());
        }
    }
    problems
}

/// Whether the folder stands at the start of a path in this line, and not in the middle of a longer
/// one (`src/…`) or of an address.
fn starts_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|before| before.is_alphanumeric() || "_-.~*}>".contains(before))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_line(path: &str, line: &str, is_problem: bool) {
        let file = TextFile {
            path: path.to_owned(),
            text: format!("first\n{line}\n"),
        };
        let places: Vec<_> = check(&file).into_iter().map(|problem| problem.place).collect();
        let expect = if is_problem { vec![format!("{path}:2")] } else { vec![] };
        assert_eq!(places, expect, "{line}");
    }

    #[test]
    fn one_machines_folders_are_found_where_a_path_starts() {
        for folder in MACHINE_FOLDERS {
            check_line("notes.md", &format!("see `{folder}me/x`"), true);
            check_line("a.rs", &format!("let x = \"{folder}\";"), true);
            check_line("notes.md", &format!("crates/flow/src{folder}mod.rs"), false);
            check_line("notes.md", &format!("https://shop.example{folder}"), false);
        }
    }

    #[test]
    fn registries_are_found_everywhere_but_in_cargos_own_lock_file() {
        for host in REGISTRY_HOSTS {
            check_line("README.md", &format!("https://{host}/x"), true);
            check_line("Cargo.lock", &format!("source = \"https://{host}\""), false);
        }
    }

    #[test]
    fn npms_lock_file_names_no_host() {
        let line = format!("{RESOLVED}s://anywhere.example/x.tgz\"");
        check_line("crates/console/web/package-lock.json", &line, true);
        check_line("fixture.json", &line, false);
    }
}
