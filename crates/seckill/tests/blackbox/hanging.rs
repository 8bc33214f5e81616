//! A disk that stops answering under the journal of a real process: commands, the end of the process, and what a restart finds.

use std::thread;
use std::time::Duration;

use seckill_bench::held_disk::{Held, HeldDisk};
use seckill_testkit::{Answer, Server, text};
use serde_json::{Value, json};

use crate::newcomer::ask;
use crate::program;

fn start(disk: &HeldDisk) -> Server {
    let environment = disk.environment();
    let mut environment: Vec<_> = environment
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    environment.extend([
        ("SECKILL_STORE__ANSWER_WITHIN", "1s"),
        ("SECKILL_SERVER__SHUTDOWN_GRACE", "5s"),
    ]);
    Server::start_with(&program(), &environment)
}

fn disk() -> HeldDisk {
    HeldDisk::build(Held::Journal, Duration::ZERO).expect("a C compiler")
}

fn post(server: &Server, activity: u64, command: &str) -> Answer {
    let path = format!("/admin/api/activities/{activity}/{command}");
    server.as_admin("POST", &path, Some(&json!({})))
}

fn switch(server: &Server, change: &Value) -> Answer {
    server.as_admin("PATCH", "/admin/api/switches", Some(change))
}

fn is(answer: &Answer, status: u16, code: i64) {
    assert_eq!((answer.status, answer.code()), (status, code), "{answer:?}");
}

#[test]
fn commands_are_answered_while_the_journal_hangs_and_work_when_it_is_back() {
    let disk = disk();
    let server = start(&disk);
    let activity = server.sale(10, &json!({}));
    assert_eq!(server.buy(activity, "a", "k").expect("answers").status, 202);
    disk.hang().expect("a file");
    is(&post(&server, activity, "pause"), 503, 50302);
    let audit = format!("/admin/api/activities/{activity}/audit");
    is(&server.as_admin("GET", &audit, None), 503, 50300);
    is(&post(&server, activity, "resume"), 503, 50302);
    let (code, _, stderr) = ask(&server, &["activity", "resume", &activity.to_string()]);
    let told = ["503 50302: ", "look first", "--idempotency-key cli-"].map(|said| stderr.contains(said));
    assert_eq!((code, told), (4, [true; 3]), "{stderr}");
    is(&switch(&server, &json!({"entry_open": false})), 200, 0);
    is(&switch(&server, &json!({"entry_open": true})), 503, 50300);
    is(&server.buy(activity, "b", "k").expect("answers"), 503, 40006);
    disk.release().expect("a file");
    server.until_the_store_answers(activity);
    is(&switch(&server, &json!({"entry_open": true})), 200, 0);
    // It was resumed while the disk hung, and the pause of before is not carried out behind that.
    assert_eq!(server.buy(activity, "b", "k").expect("answers").status, 202);
    is(&post(&server, activity, "pause"), 200, 0);
    is(&server.buy(activity, "c", "k").expect("answers"), 503, 40006);
    is(&post(&server, activity, "resume"), 200, 0);
    assert_eq!(server.buy(activity, "c", "k").expect("answers").status, 202);
    assert_eq!(server.settled(activity)["balanced"], true);
}

#[test]
fn sigterm_ends_the_process_while_the_journal_hangs_and_loses_nothing_that_was_answered() {
    let disk = disk();
    let mut server = start(&disk);
    let activity = server.sale(10, &json!({}));
    let ticket = server.buy(activity, "a", "k").expect("answers").data()["ticket"].clone();
    // The next frame is then the one that hangs.
    assert_eq!(server.settled(activity)["balanced"], true);
    disk.hang().expect("a file");
    is(&server.buy(activity, "b", "k").expect("answers"), 503, 50302);
    // It never comes back: without a bound the process would not end.
    assert_eq!(server.terminate().code(), Some(1), "{}", server.log());
    disk.release().expect("a file");
    server.start_again();
    let again = server.buy(activity, "a", "k").expect("answers");
    assert_eq!((again.status, &again.data()["ticket"]), (202, &ticket));
    assert_eq!(server.buy(activity, "b", "k").expect("answers").status, 202);
    assert_eq!(server.settled(activity)["balanced"], true);
}

#[test]
fn an_entrance_that_was_shut_while_the_journal_hung_is_shut_after_a_kill() {
    let disk = disk();
    let mut server = start(&disk);
    let activity = server.sale(10, &json!({}));
    disk.hang().expect("a file");
    thread::scope(|scope| {
        // So that the store is not known to hang yet when the entrance is shut.
        let claim = scope.spawn(|| server.buy(activity, "a", "k").expect("answers"));
        is(&switch(&server, &json!({"entry_open": false})), 200, 0);
        claim.join().expect("answered");
    });
    server.kill();
    disk.release().expect("a file");
    server.start_again();
    is(&server.buy(activity, "b", "k").expect("answers"), 503, 40006);
}

#[test]
fn claims_that_a_hanging_store_was_not_told_of_are_shed_by_time_and_counted_so() {
    let disk = disk();
    let server = start(&disk);
    let activity = server.sale(10, &json!({}));
    disk.hang().expect("a file");
    is(&server.buy(activity, "a", "k").expect("answers"), 503, 50302);
    is(&server.buy(activity, "b", "k").expect("answers"), 503, 50300);
    let metrics = text(server.admin, "/metrics").expect("a page");
    let shed = |reason: &str| metrics.contains(&format!("seckill_shed_total{{reason=\"{reason}\"}} 1\n"));
    assert!(shed("waited_too_long") && !shed("pending_full"), "{metrics}");
    disk.release().expect("a file");
}
