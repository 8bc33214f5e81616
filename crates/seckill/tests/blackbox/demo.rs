//! The demo from its first line to its audit.

use tempfile::TempDir;

use crate::program;

#[test]
fn the_demo_with_a_crowd_says_whose_pace_it_was_prints_a_balanced_audit_and_ends() {
    let folder = TempDir::new().expect("a folder");
    let ports = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
    let arguments: Vec<_> = ["demo", "--crowd", "2000", "--exit"].into_iter().chain(ports).collect();
    let output = program().run(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    for said in [
        "curl -X POST",
        "2000 buyers came within 10 s, by the demo's own pace",
        "300 purchases accepted, 300 units were on sale",
        "1700 heard \"sold out\" (HTTP 410, code 40005)",
        "balanced: yes",
    ] {
        assert!(stdout.contains(said), "{said} is not in: {stdout}");
    }
}
