//! Damage to each kind of file: the start is refused, names file and offset and changes nothing; `verify` lists all of
//! it; `repair` cuts what it may.

use std::collections::BTreeMap;
use std::fs;

use seckill_engine_embedded::journal::{Damage, Error, Journal, repair, verify};

use crate::fixture::{Folder, OPTIONS, SECTOR};

const SNAPSHOT: &str = "journal-0000000002.snapshot";
const FIRST: &str = "journal-0000000003.segment";
const SECOND: &str = "journal-0000000004.segment";
const LIVE: &str = "journal-0000000005.segment";
const MANIFEST: &str = "journal.manifest";

fn contents(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    folder
        .names()
        .into_iter()
        .map(|name| (name.clone(), fs::read(folder.file(&name)).unwrap()))
        .collect()
}

/// Checks that the start is refused with this damage, and that `verify` begins its list with it. Neither changes a byte.
#[track_caller]
fn assert_refused(folder: &Folder, file: &str, offset: u64, damage: &Damage) {
    let before = contents(folder);
    let Err(error) = folder.try_start() else {
        panic!("started")
    };
    let Error::Damaged {
        file: found_file,
        offset: found_offset,
        damage: found,
    } = &error
    else {
        panic!("{error:?}")
    };
    assert_eq!((found_file.as_str(), *found_offset, found), (file, offset, damage));
    assert!(
        error.to_string().contains(file) && error.to_string().contains("seckill journal verify"),
        "{error}"
    );
    let problems = verify(&folder.disk()).unwrap().problems;
    assert_eq!(
        (problems[0].file.as_str(), problems[0].offset, &problems[0].damage),
        (file, offset, damage)
    );
    assert_eq!(contents(folder), before);
}

#[test]
fn flipped_bit_in_the_middle_is_refused() {
    let folder = Folder::with_everything();
    for (file, frame) in [
        (SNAPSHOT, 7),
        (SNAPSHOT, 30),
        (FIRST, 1),
        (FIRST, 9),
        (FIRST, 15),
        (SECOND, 15),
        (LIVE, 3),
    ] {
        for offset in [0, 9, 17, 21, 25, 29, 32, 150, 511] {
            folder.flip(file, frame * SECTOR + offset);
            let found = folder.try_start().err();
            folder.flip(file, frame * SECTOR + offset);
            let Some(Error::Damaged {
                file: found_file,
                offset: found,
                damage: Damage::Frame,
            }) = found
            else {
                panic!("{file} frame {frame} byte {offset}: {found:?}")
            };
            assert_eq!(found_file, file);
            let (from, to) = (frame * SECTOR, frame * SECTOR + offset);
            assert!((from..=to).contains(&found), "{found} is not between {from} and {to}");
        }
    }
    folder.assert_holds(70);
}

#[test]
fn flipped_bit_in_a_header_is_refused() {
    let folder = Folder::with_everything();
    for file in [SNAPSHOT, FIRST, SECOND, LIVE, MANIFEST] {
        for offset in [0, 8, 12, 20, 33, 300, 510] {
            folder.flip(file, offset);
            assert_refused(&folder, file, 0, &Damage::Header);
            folder.flip(file, offset);
        }
    }
}

#[test]
fn empty_and_shortened_files_are_refused() {
    for file in [SNAPSHOT, FIRST, SECOND, LIVE, MANIFEST] {
        let folder = Folder::with_everything();
        folder.edit(file, Vec::clear);
        assert_refused(&folder, file, 0, &Damage::Empty);
        let folder = Folder::with_everything();
        folder.edit(file, |bytes| bytes.truncate(400));
        assert_refused(&folder, file, 0, &Damage::Header);
    }
}

#[test]
fn missing_file_is_refused() {
    for file in [SNAPSHOT, FIRST, SECOND, LIVE, MANIFEST] {
        let folder = Folder::with_everything();
        fs::remove_file(folder.file(file)).unwrap();
        assert_refused(&folder, file, 0, &Damage::Missing);
    }
}

#[test]
fn frames_lost_at_the_end_of_a_sealed_file_are_noticed() {
    for (file, damage) in [
        (SNAPSHOT, Damage::Frame),
        (
            FIRST,
            Damage::Gap {
                found: 41,
                expected: 46,
            },
        ),
        (
            SECOND,
            Damage::Gap {
                found: 56,
                expected: 61,
            },
        ),
    ] {
        let folder = Folder::with_everything();
        folder.edit(file, |bytes| bytes.truncate(bytes.len() - 5 * 512));
        let offset = fs::metadata(folder.file(file)).unwrap().len();
        assert_refused(&folder, file, offset, &damage);
    }
}

#[test]
fn swapped_segments_are_refused() {
    let folder = Folder::with_everything();
    fs::rename(folder.file(FIRST), folder.file("aside")).unwrap();
    fs::rename(folder.file(SECOND), folder.file(FIRST)).unwrap();
    fs::rename(folder.file("aside"), folder.file(SECOND)).unwrap();
    assert_refused(&folder, FIRST, 0, &Damage::Misplaced { found: 4, expected: 3 });
}

#[test]
fn files_of_another_installation_are_refused() {
    let other = Folder::new();
    drop(Journal::create_or_open(other.disk(), OPTIONS, *b"another install.", &mut |_, _| Ok(())).unwrap());
    for file in [FIRST, LIVE] {
        let folder = Folder::with_everything();
        fs::copy(other.file("journal-0000000001.segment"), folder.file(file)).unwrap();
        assert_refused(&folder, file, 0, &Damage::ForeignInstallation);
    }
}

#[test]
fn file_of_a_newer_format_is_named_as_such() {
    for file in [SNAPSHOT, SECOND, LIVE, MANIFEST] {
        let folder = Folder::with_everything();
        folder.edit(file, |bytes| {
            bytes[8] = 2;
            let crc = crc32fast::hash(&bytes[..508]);
            bytes[508..512].copy_from_slice(&crc.to_le_bytes());
        });
        assert_refused(
            &folder,
            file,
            0,
            &Damage::NewerVersion {
                version: 2,
                version_max: 1,
            },
        );
    }
}

#[test]
fn old_manifest_beside_newer_segments_is_refused() {
    let folder = Folder::with_payloads(10);
    let old = fs::read(folder.file(MANIFEST)).unwrap();
    let mut journal = folder.start().0.journal;
    crate::fixture::commit(&mut journal, 11..=20);
    fs::write(folder.file(MANIFEST), old).unwrap();
    assert_refused(&folder, "journal-0000000002.segment", 0, &Damage::Unlisted);
}

#[test]
fn frame_of_another_place_is_refused_though_it_is_whole() {
    let folder = Folder::with_everything();
    folder.edit(SECOND, |bytes| bytes.copy_within(5 * 512..6 * 512, 4 * 512));
    assert_refused(
        &folder,
        SECOND,
        4 * SECTOR,
        &Damage::OutOfSequence {
            found: 50,
            expected: 49,
        },
    );
    let folder = Folder::with_everything();
    let frame = fs::read(folder.file(FIRST)).unwrap()[512..1024].to_vec();
    folder.edit(LIVE, |bytes| bytes[3 * 512..4 * 512].copy_from_slice(&frame));
    assert_refused(&folder, LIVE, 3 * SECTOR, &Damage::Frame);
}

#[test]
fn two_damaged_frames_are_not_taken_for_one_torn_one() {
    let folder = Folder::with_payloads(8);
    let live = "journal-0000000001.segment";
    folder.flip(live, 7 * SECTOR + 50);
    folder.flip(live, 8 * SECTOR + 50);
    assert_refused(&folder, live, 7 * SECTOR, &Damage::Frame);
}

#[test]
fn verify_lists_a_sound_journal() {
    let folder = Folder::with_everything();
    let report = verify(&folder.disk()).unwrap();
    assert!(
        report.is_sound() && report.torn.is_none() && report.leftovers.is_empty(),
        "{report:?}"
    );
    let files: Vec<_> = report
        .files
        .iter()
        .map(|file| (file.name.as_str(), file.frames))
        .collect();
    assert_eq!(files, [(SNAPSHOT, 30), (FIRST, 15), (SECOND, 15), (LIVE, 10)]);
    assert_eq!(report.frames(), 70);
    assert!(verify(&Folder::new().disk()).unwrap().files.is_empty());
}

#[test]
fn verify_lists_all_damage_leftovers_and_the_torn_tail() {
    let folder = Folder::with_everything();
    fs::write(folder.file("journal-0000000001.segment"), b"covered").unwrap();
    fs::write(folder.file("journal-0000000006.segment"), b"").unwrap();
    fs::write(folder.file("journal-0000000004.snapshot.unfinished"), b"").unwrap();
    folder.flip(SNAPSHOT, 4 * SECTOR);
    folder.flip(FIRST, 2 * SECTOR + 100);
    folder.flip(FIRST, 8 * SECTOR + 100);
    fs::remove_file(folder.file(SECOND)).unwrap();
    folder.flip(LIVE, 10 * SECTOR + 40);
    let report = verify(&folder.disk()).unwrap();
    let problems: Vec<_> = report.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            format!("{SNAPSHOT} at offset 2048: a frame is damaged or missing"),
            format!("{FIRST} at offset 1024: a frame is damaged or missing"),
            format!("{FIRST} at offset 4096: a frame is damaged or missing"),
            format!("{SECOND} at offset 0: the file is missing"),
        ]
    );
    let first = &report.files[1];
    assert_eq!((first.frames, first.frames_behind_damage), (13, 12));
    assert_eq!(report.torn.unwrap().offset, 10 * SECTOR);
    assert_eq!(
        report.leftovers,
        [
            "journal-0000000004.snapshot.unfinished",
            "journal-0000000001.segment",
            "journal-0000000006.segment"
        ]
    );
}

#[test]
fn leftovers_are_removed_by_the_start() {
    let folder = Folder::with_everything();
    for leftover in [
        "journal-0000000001.segment",
        "journal-0000000001.snapshot",
        "journal-0000000006.segment",
    ] {
        fs::write(folder.file(leftover), b"").unwrap();
    }
    fs::write(folder.file("journal.manifest.unfinished"), b"half").unwrap();
    fs::write(folder.file("journal-notes.txt"), b"not ours").unwrap();
    folder.assert_holds(70);
    assert_eq!(
        folder.names(),
        [SNAPSHOT, FIRST, SECOND, LIVE, "journal-notes.txt", MANIFEST]
    );
}

#[test]
fn repair_cuts_the_last_segment_at_its_first_damage_and_keeps_a_copy() {
    let folder = Folder::with_everything();
    folder.flip(LIVE, 4 * SECTOR + 60);
    folder.flip(LIVE, 8 * SECTOR + 60);
    let damaged = fs::read(folder.file(LIVE)).unwrap();
    let repaired = repair(&folder.disk()).unwrap().unwrap();
    assert_eq!(
        (repaired.file.as_str(), repaired.offset, repaired.frames_lost),
        (LIVE, 4 * SECTOR, 5)
    );
    assert_eq!(fs::read(folder.file(&repaired.copy)).unwrap(), damaged);
    assert!(repair(&folder.disk()).unwrap().is_none(), "nothing is left to repair");
    folder.assert_holds(63);
}

#[test]
fn repair_refuses_damage_that_it_can_not_cut() {
    for (file, offset) in [(SNAPSHOT, 2 * SECTOR), (FIRST, 3 * SECTOR), (LIVE, 30), (MANIFEST, 40)] {
        let folder = Folder::with_everything();
        folder.flip(file, offset);
        folder.flip(LIVE, 5 * SECTOR);
        let before = contents(&folder);
        assert!(matches!(repair(&folder.disk()), Err(Error::Damaged { file: found, .. }) if found == file));
        assert_eq!(contents(&folder), before);
    }
    assert!(repair(&Folder::with_everything().disk()).unwrap().is_none());
}
