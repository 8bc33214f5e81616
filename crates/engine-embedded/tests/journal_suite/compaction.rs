//! Compactions beside a living journal, and what a commit costs.

use std::sync::mpsc::sync_channel;
use std::thread;

use seckill_engine_embedded::journal::{Error, Journal, Opened, footprint, verify};
use seckill_engine_embedded::storage::simulated::Fault;

use crate::fixture::{Folder, INSTALLATION, commit, compact, payload};
use crate::simulation::{Compacting, OPTIONS, Simulation};

#[test]
fn compaction_on_another_thread_doesnt_disturb_commits() {
    let folder = Folder::with_payloads(40);
    let mut journal = folder.start().0.journal;
    let compaction = journal.compaction().unwrap();
    let (go_on, gate) = sync_channel(0);
    let (written, done) = sync_channel(0);
    let compactor = thread::spawn(move || {
        let mut payloads = Vec::new();
        let mut writer = compaction
            .replay(&mut |_, payload| {
                payloads.push(payload.to_vec());
                Ok(())
            })
            .unwrap();
        gate.recv().unwrap();
        for payload in &payloads {
            writer.write(payload).unwrap();
        }
        written.send(()).unwrap();
        gate.recv().unwrap();
        writer.finish().unwrap()
    });
    commit(&mut journal, 41..=75);
    go_on.send(()).unwrap();
    done.recv().unwrap();
    commit(&mut journal, 76..=100);
    go_on.send(()).unwrap();
    commit(&mut journal, 101..=140);
    let compacted = compactor.join().unwrap();
    assert_eq!(
        (compacted.index, compacted.frames, compacted.segments_removed),
        (2, 30, 2)
    );
    commit(&mut journal, 141..=150);
    drop(journal);
    folder.assert_holds(150);
    assert!(verify(&folder.disk()).unwrap().is_sound());
}

#[test]
fn one_compaction_runs_at_a_time_and_only_where_something_is_sealed() {
    let folder = Folder::with_payloads(20);
    let mut journal = folder.start().0.journal;
    let first = journal.compaction();
    assert!(first.is_some() && journal.compaction().is_none());
    drop(first);
    compact(&journal);
    assert!(journal.compaction().is_none());
    journal.seal().unwrap();
    assert!(journal.compaction().is_some());
}

#[test]
fn dropped_compaction_leaves_nothing_behind() {
    let folder = Folder::with_payloads(20);
    let journal = folder.start().0.journal;
    let names = folder.names();
    let mut writer = journal.compaction().unwrap().replay(&mut |_, _| Ok(())).unwrap();
    writer.write(b"half").unwrap();
    assert!(matches!(
        writer.write(&[0; 2001]),
        Err(Error::TooLarge {
            bytes: 2001,
            bytes_max: 2000
        })
    ));
    assert_eq!(folder.names().len(), names.len() + 1);
    drop(writer);
    assert_eq!(folder.names(), names);
    assert!(journal.compaction().is_some());
    folder.assert_holds(20);
}

#[test]
fn damage_found_by_a_compaction_keeps_the_old_files_and_the_journal_open() {
    let folder = Folder::with_everything();
    let mut journal = folder.start().0.journal;
    folder.flip("journal-0000000003.segment", 5 * 512 + 50);
    let names = folder.names();
    let failed = journal.compaction().unwrap().replay(&mut |_, _| Ok(()));
    assert!(matches!(failed.err(), Some(Error::Damaged { file, .. }) if file == "journal-0000000003.segment"));
    assert_eq!(folder.names(), names);
    commit(&mut journal, 71..=71);
}

#[test]
fn frames_lost_at_the_end_of_the_last_sealed_segment_never_reach_a_snapshot() {
    let folder = Folder::with_everything();
    let journal = folder.start().0.journal;
    folder.edit("journal-0000000004.segment", |bytes| bytes.truncate(bytes.len() - 512));
    let failed = journal.compaction().unwrap().replay(&mut |_, _| Ok(()));
    assert!(matches!(failed.err(), Some(Error::Damaged { file, .. }) if file == "journal-0000000004.segment"));
}

#[test]
fn failed_compaction_doesnt_stop_the_journal() {
    let mut simulation = Simulation::new(4);
    let mut journal = simulation.start().unwrap();
    for _ in 0..60 {
        simulation.commit(&mut journal).unwrap();
    }
    for operation in 0.. {
        let begin = simulation.disk.operations();
        simulation.disk.fail(begin + operation, Fault::Broken);
        let finished = Compacting::begin(&journal).map(Compacting::finish);
        let met = begin + operation < simulation.disk.operations();
        simulation.disk.clear_faults();
        simulation.commit(&mut journal).unwrap();
        if !met {
            finished.unwrap().unwrap();
            assert!(10 < operation);
            break;
        }
        if finished.is_none_or(|finished| finished.is_ok()) {
            journal.seal().unwrap();
        }
    }
    drop(journal);
    simulation.assert_survives();
}

#[test]
fn commit_is_one_write_and_one_sync() {
    let mut simulation = Simulation::new(0);
    let mut journal = simulation.start().unwrap();
    journal.reserve(10_000).unwrap();
    for _ in 0..5 {
        let before = simulation.disk.operations();
        simulation.commit(&mut journal).unwrap();
        assert_eq!(simulation.disk.operations() - before, 2);
    }
}

#[test]
fn sizes_follow_the_files() {
    let folder = Folder::with_payloads(31);
    let Opened { journal, .. } = folder.start().0;
    let stats = journal.stats();
    assert_eq!(
        (stats.segments, stats.sealed_bytes, stats.snapshot_bytes),
        (3, 2 * 8192, 0)
    );
    assert_eq!(stats.live_bytes, 512 + footprint(payload(31).len()));
    let compacted = compact(&journal);
    let stats = journal.stats();
    assert_eq!(
        (stats.segments, stats.sealed_bytes, stats.snapshot_bytes),
        (1, 0, compacted.bytes)
    );
    drop(journal);
    assert_eq!(folder.start().0.journal.stats(), stats);
}

#[test]
fn journal_and_compaction_can_change_threads() {
    fn movable<T: Send>(_: T) {}
    let mut simulation = Simulation::new(0);
    let journal = simulation.start().unwrap();
    movable(journal.compaction());
    movable(journal);
    let opened = Journal::create_or_open(Folder::new().disk(), OPTIONS, INSTALLATION, &mut |_, _| Ok(())).unwrap();
    movable(opened.journal);
}
