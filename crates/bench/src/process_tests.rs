//! Children that are shells.

use super::*;

fn shell(script: &str, environment: &[(String, String)]) -> Process {
    Process::start(Path::new("/bin/sh"), |_| vec!["-c".into(), script.into()], environment).unwrap()
}

#[test]
fn early_end_shows_the_log() {
    let mut child = shell("echo no secret given >&2; exit 2", &[]);
    let error = child
        .wait_until(Duration::from_secs(20), || false)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("ended early") && error.contains("no secret given"),
        "{error}"
    );
}

#[test]
fn child_ends_by_term_and_its_folder_goes() {
    let mut child = shell("touch ready; while :; do sleep 0.05; done", &[]);
    let folder = child.folder().to_owned();
    let ready = folder.join("ready");
    child.wait_until(Duration::from_secs(20), || ready.exists()).unwrap();
    let status = child.stop().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
    assert!(!folder.exists());
}

#[test]
fn environment_is_passed_on() {
    let mut child = shell(
        "echo \"$SECKILL_X\" > seen; mv seen done; sleep 20",
        &[("SECKILL_X".into(), "given".into())],
    );
    let done = child.folder().join("done");
    child.wait_until(Duration::from_secs(20), || done.exists()).unwrap();
    assert_eq!(std::fs::read_to_string(done).unwrap(), "given\n");
}

#[test]
fn killed_child_begins_again_in_its_folder_and_with_its_environment() {
    let script = "echo \"$SECKILL_X\" >> seen; trap 'echo ended >> seen' TERM EXIT; touch ready-$(wc -l < seen); while :; do sleep 0.05; done";
    let mut child = shell(script, &[("SECKILL_X".into(), "given".into())]);
    let (id, folder) = (child.id(), child.folder().to_owned());
    child
        .wait_until(Duration::from_secs(20), || folder.join("ready-1").exists())
        .unwrap();
    child.kill_and_start_again().unwrap();
    child
        .wait_until(Duration::from_secs(20), || folder.join("ready-2").exists())
        .unwrap();
    assert_ne!(child.id(), id);
    assert_eq!(std::fs::read_to_string(folder.join("seen")).unwrap(), "given\ngiven\n");
}

#[test]
fn held_child_goes_on_when_it_is_told() {
    let child = shell("while :; do sleep 0.05; done", &[]);
    let is_held = |child: &Process| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        stat.rsplit_once(')').unwrap().1.starts_with(" T")
    };
    let turns = |held: bool| (0..1_000_000).any(|_| is_held(&child) == held);
    child.hold();
    assert!(turns(true));
    child.go_on();
    assert!(turns(false));
}
