//! Commands, and whose they are.

use std::fs;
use std::process::{Command, Output, Stdio};

/// The command as another user's.
pub(crate) fn as_owner(owner: Option<(u32, u32)>, command: &Command) -> Command {
    let mut other = Command::new("setpriv");
    match owner {
        Some((user, group)) => {
            other.args([
                &format!("--reuid={user}"),
                &format!("--regid={group}"),
                "--clear-groups",
            ]);
            other.arg(command.get_program());
        }
        None => other = Command::new(command.get_program()),
    }
    other.args(command.get_args());
    other
}

/// User and group that the server runs as, where it must not be ours.
pub(crate) fn owner(name: Option<&str>) -> Option<(u32, u32)> {
    let name = name.filter(|_| rustix::process::getuid().is_root())?;
    let users = fs::read_to_string("/etc/passwd").expect("readable");
    let row = users.lines().find(|row| row.split(':').next() == Some(name));
    let row: Vec<&str> = row
        .unwrap_or_else(|| panic!("there is no user {name}"))
        .split(':')
        .collect();
    Some((row[2].parse().expect("a number"), row[3].parse().expect("a number")))
}

pub(crate) fn run(command: &mut Command) -> Output {
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null());
    command.output().unwrap_or_else(|error| {
        panic!("{program} can't be started ({error}); `cargo xtask test` installs what tests need")
    })
}

pub(crate) fn text(output: &Output) -> String {
    [&output.stdout[..], &output.stderr[..]]
        .map(String::from_utf8_lossy)
        .concat()
}
