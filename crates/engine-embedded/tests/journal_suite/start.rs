//! What a start of the journal finds after a normal life, and after torn writes, in a real folder.

use std::fs;

use crate::fixture::{Folder, INSTALLATION, OPTIONS, SECTOR, commit, compact, payload};
use seckill_engine_embedded::journal::{Cut, Error, Journal, Options, footprint};

const LIVE: &str = "journal-0000000001.segment";

#[test]
fn new_folder_gets_a_journal_with_the_given_installation() {
    let folder = Folder::new();
    let (opened, replayed) = folder.start();
    assert!(opened.created && replayed.is_empty());
    assert_eq!((opened.installation, opened.journal.next_sequence()), (INSTALLATION, 1));
    drop(opened);
    let other = Journal::create_or_open(folder.disk(), OPTIONS, *b"another install.", &mut |_, _| Ok(())).unwrap();
    assert!(!other.created, "the id is used at creation only");
    assert_eq!(other.installation, INSTALLATION);
}

#[test]
fn all_payloads_come_back_in_order_over_many_segments_and_starts() {
    let folder = Folder::new();
    for round in 0..5 {
        let (mut opened, replayed) = folder.start();
        let found: Vec<_> = replayed.into_iter().collect();
        assert_eq!(
            found,
            (1..=round * 20)
                .map(|number| (number, payload(number)))
                .collect::<Vec<_>>()
        );
        assert_eq!(opened.frames, round * 20);
        commit(&mut opened.journal, round * 20 + 1..=round * 20 + 20);
    }
    folder.assert_holds(100);
    assert!(folder.names().len() > 6, "several segments");
}

#[test]
fn empty_and_largest_payload_are_kept_and_a_larger_one_is_refused() {
    let folder = Folder::new();
    let mut journal = folder.start().0.journal;
    let largest = vec![7; OPTIONS.frame_bytes_max as usize];
    assert_eq!(journal.commit(&[]).unwrap(), 1);
    assert_eq!(journal.commit(&largest).unwrap(), 2);
    let error = journal.commit(&vec![7; largest.len() + 1]).unwrap_err();
    assert!(matches!(
        error,
        Error::TooLarge {
            bytes: 2001,
            bytes_max: 2000
        }
    ));
    assert!(matches!(
        journal.reserve(OPTIONS.segment_bytes).unwrap_err(),
        Error::TooLarge { .. }
    ));
    assert_eq!(journal.commit(b"next").unwrap(), 3);
    let replayed = folder.start().1;
    assert_eq!(replayed, [(1, vec![]), (2, largest), (3, b"next".to_vec())]);
}

#[test]
fn raised_payload_limit_counts_at_once_after_a_restart() {
    let folder = Folder::with_payloads(2);
    let raised = Options {
        frame_bytes_max: 4000,
        ..OPTIONS
    };
    let mut journal = Journal::create_or_open(folder.disk(), raised, INSTALLATION, &mut |_, _| Ok(()))
        .unwrap()
        .journal;
    assert_eq!(journal.commit(&vec![9; 4000]).unwrap(), 3);
    assert_eq!(folder.start().1[2], (3, vec![9; 4000]));
}

#[test]
fn contradicting_options_are_refused() {
    let refused = |options| matches!(start_with(options), Err(Error::Options(_)));
    assert!(refused(Options {
        frame_bytes_max: 0,
        ..OPTIONS
    }));
    assert!(refused(Options {
        segment_bytes: 2048,
        ..OPTIONS
    }));
    assert!(refused(Options {
        allocate_bytes: 0,
        ..OPTIONS
    }));
    assert!(start_with(Options::default()).is_ok());
}

fn start_with(options: Options) -> Result<(), Error> {
    Journal::create_or_open(Folder::new().disk(), options, INSTALLATION, &mut |_, _| Ok(())).map(drop)
}

#[test]
fn refused_payload_stops_the_start_and_changes_nothing() {
    let folder = Folder::with_payloads(3);
    folder.edit(LIVE, |bytes| bytes[4 * 512 + 20] = 1);
    let before = fs::read(folder.file(LIVE)).unwrap();
    let refused = Journal::create_or_open(folder.disk(), OPTIONS, INSTALLATION, &mut |sequence, _| {
        if sequence == 2 {
            Err("unknown event".into())
        } else {
            Ok(())
        }
    });
    let Err(Error::Replay { file, offset, source }) = refused else {
        panic!("started")
    };
    assert_eq!(
        (file.as_str(), offset, source.to_string().as_str()),
        (LIVE, 2 * SECTOR, "unknown event")
    );
    assert_eq!(fs::read(folder.file(LIVE)).unwrap(), before);
}

#[test]
fn reserved_space_is_written_ahead_and_used_by_commits() {
    let folder = Folder::new();
    let mut journal = folder.start().0.journal;
    journal.reserve(5000).unwrap();
    let reserved = fs::metadata(folder.file(LIVE)).unwrap().len();
    assert!(SECTOR + 5000 <= reserved);
    while journal.stats().live_bytes + footprint(payload(1).len()) <= reserved {
        journal.commit(&payload(1)).unwrap();
    }
    assert_eq!(fs::metadata(folder.file(LIVE)).unwrap().len(), reserved);
}

#[test]
fn torn_tail_is_cut_whatever_sectors_of_it_are_there() {
    // The third frame takes four sectors; every mix of them but the complete one is a torn write.
    let large: Vec<u8> = (0..1900_u32).map(|number| number.to_le_bytes()[0] | 1).collect();
    for present in 0..15_u32 {
        let folder = Folder::with_payloads(2);
        folder.start().0.journal.commit(&large).unwrap();
        let torn_at = 3 * 512;
        folder.edit(LIVE, |bytes| {
            for sector in (0..4).filter(|sector| present & (1 << sector) == 0) {
                bytes[torn_at + sector * 512..][..512].fill(0);
            }
        });
        let opened = folder.assert_holds(2);
        let cut = opened.cut.map(|cut| (cut.file, cut.offset));
        assert_eq!(
            cut,
            (present != 0).then(|| (LIVE.to_owned(), 3 * SECTOR)),
            "{present:04b}"
        );
        assert!(folder.start().0.cut.is_none(), "cut once");
    }
}

#[test]
fn every_truncation_inside_the_last_frame_is_a_torn_tail() {
    let frame_end = 3 * 512 + 32 + payload(3).len();
    for length in (3 * 512..frame_end).step_by(23) {
        let folder = Folder::with_payloads(3);
        folder.edit(LIVE, |bytes| bytes.truncate(length));
        folder.assert_holds(2);
    }
}

#[test]
fn flipped_bit_in_the_last_frame_cuts_that_frame_only() {
    let folder = Folder::with_payloads(5);
    folder.flip(LIVE, 5 * SECTOR + 100);
    let opened = folder.assert_holds(4);
    let bytes = 32 + payload(5).len() as u64;
    assert_eq!(
        opened.cut,
        Some(Cut {
            file: LIVE.to_owned(),
            offset: 5 * SECTOR,
            bytes
        })
    );
}

#[test]
fn flipped_bit_in_the_zeros_behind_the_last_frame_costs_nothing() {
    let folder = Folder::with_payloads(5);
    let length = fs::metadata(folder.file(LIVE)).unwrap().len();
    for offset in [6 * SECTOR - 1, 6 * SECTOR, 7 * SECTOR + 3, length - 1] {
        let folder = Folder::with_payloads(5);
        folder.flip(LIVE, offset);
        assert!(folder.assert_holds(5).cut.is_some(), "{offset}");
        folder.assert_holds(6);
    }
}

#[test]
fn creation_that_was_interrupted_begins_anew() {
    for length in [0, 100, 512, 2000] {
        let folder = Folder::with_payloads(0);
        fs::remove_file(folder.file("journal.manifest")).unwrap();
        folder.edit(LIVE, |bytes| bytes.truncate(length));
        assert!(folder.assert_holds(0).created);
        folder.assert_holds(1);
    }
}

#[test]
fn sealed_journal_goes_on_in_the_next_segment() {
    let folder = Folder::with_payloads(3);
    let mut journal = folder.start().0.journal;
    journal.seal().unwrap();
    journal.seal().unwrap();
    assert_eq!(journal.stats().segments, 2, "an empty segment is not sealed");
    assert_eq!(
        fs::metadata(folder.file(LIVE)).unwrap().len(),
        4 * SECTOR,
        "without the zeros"
    );
    commit(&mut journal, 4..=5);
    folder.assert_holds(5);
}

#[test]
fn snapshot_stands_for_the_segments_it_replaced() {
    let folder = Folder::with_everything();
    let (opened, replayed) = folder.start();
    assert_eq!(opened.frames, 40);
    let sequences: Vec<_> = replayed.iter().map(|(sequence, _)| *sequence).collect();
    assert_eq!(
        sequences,
        std::iter::repeat_n(30, 30).chain(31..=70).collect::<Vec<_>>()
    );
    let compacted = compact(&opened.journal);
    assert_eq!(
        (compacted.index, compacted.frames, compacted.segments_removed),
        (4, 60, 2)
    );
    assert!(opened.journal.compaction().is_none(), "nothing is sealed");
    assert_eq!(
        folder.names(),
        [
            "journal-0000000004.snapshot",
            "journal-0000000005.segment",
            "journal.manifest"
        ]
    );
    drop(opened);
    folder.assert_holds(70);
}
