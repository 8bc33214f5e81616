//! The simulated disk keeps what was synced, and only that for sure.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use seckill_engine_embedded::storage::simulated::{Fault, Simulated};
use seckill_engine_embedded::storage::{File, Storage};

/// What is left of a file after a power loss, over many seeds.
fn outcomes(act: impl Fn(&Simulated)) -> BTreeSet<Option<Vec<u8>>> {
    let outcome = |seed| {
        let disk = Simulated::new(seed);
        act(&disk);
        disk.cut_power();
        disk.restart();
        let file = disk.open_to_read("file").ok()?;
        let mut bytes = vec![0; 4096];
        let read = file.read_full_at(&mut bytes, 0).unwrap();
        bytes.truncate(read);
        Some(bytes)
    };
    (0..200).map(outcome).collect()
}

fn synced(disk: &Simulated, sectors: &[u8]) {
    let file = disk.create("file").unwrap();
    write(&file, sectors);
    file.sync_data().unwrap();
    disk.sync_folder().unwrap();
}

fn write(file: &impl File, sectors: &[u8]) {
    let bytes: Vec<u8> = sectors.iter().flat_map(|sector| [*sector; 512]).collect();
    file.write_all_at(&bytes, 0).unwrap();
}

fn sectors(bytes: &[u8]) -> Vec<u8> {
    bytes.chunks(512).map(|sector| sector[0]).collect()
}

#[test]
fn synced_content_under_a_synced_name_stays() {
    let found = outcomes(|disk| synced(disk, &[1, 2, 3]));
    assert_eq!(found.len(), 1);
    assert_eq!(sectors(found.first().unwrap().as_ref().unwrap()), [1, 2, 3]);
}

#[test]
fn each_unsynced_sector_is_kept_or_lost_by_itself() {
    let found = outcomes(|disk| {
        synced(disk, &[1, 1, 1]);
        write(&disk.open_to_write("file").unwrap(), &[2, 2, 2]);
    });
    assert_eq!(found.len(), 8);
}

#[test]
fn unsynced_growth_leaves_any_length_between() {
    let found = outcomes(|disk| {
        synced(disk, &[1]);
        write(&disk.open_to_write("file").unwrap(), &[1, 2, 2]);
    });
    let lengths: BTreeSet<_> = found.iter().flatten().map(Vec::len).collect();
    assert!(
        20 < lengths.len() && lengths.contains(&512) && lengths.contains(&1536),
        "{lengths:?}"
    );
}

#[test]
fn unsynced_names_come_and_go() {
    let created = outcomes(|disk| {
        let file = disk.create("file").unwrap();
        write(&file, &[1]);
        file.sync_data().unwrap();
    });
    assert_eq!(created.len(), 2, "there or not");
    let replaced = outcomes(|disk| {
        synced(disk, &[1]);
        let file = disk.create("other").unwrap();
        write(&file, &[2]);
        file.sync_data().unwrap();
        disk.rename("other", "file").unwrap();
    });
    let found: BTreeSet<_> = replaced.iter().map(|bytes| sectors(bytes.as_ref().unwrap())).collect();
    assert_eq!(found, [vec![1], vec![2]].into(), "the old one or the new one");
    let removed = outcomes(|disk| {
        synced(disk, &[1]);
        disk.remove("file").unwrap();
    });
    assert_eq!(removed.len(), 2);
}

#[test]
fn sync_after_a_failed_one_doesnt_bring_back_what_was_dropped() {
    let found = outcomes(|disk| {
        synced(disk, &[1, 1]);
        let file = disk.open_to_write("file").unwrap();
        write(&file, &[2, 2]);
        disk.fail(disk.operations(), Fault::Broken);
        assert!(file.sync_data().is_err());
        file.sync_data().unwrap();
    });
    assert!(1 < found.len());
    let rewritten = outcomes(|disk| {
        synced(disk, &[1, 1]);
        let file = disk.open_to_write("file").unwrap();
        write(&file, &[2, 2]);
        disk.fail(disk.operations(), Fault::Broken);
        assert!(file.sync_data().is_err());
        write(&file, &[2, 2]);
        file.sync_data().unwrap();
    });
    assert_eq!(rewritten.len(), 1);
}

#[test]
fn end_of_the_process_keeps_everything_but_its_open_files() {
    let disk = Simulated::new(0);
    let file = disk.create("file").unwrap();
    write(&file, &[1, 2]);
    disk.restart();
    assert!(file.len().is_err());
    assert_eq!(disk.open_to_read("file").unwrap().len().unwrap(), 1024);
}

#[test]
fn full_disk_takes_what_fits() {
    let disk = Simulated::new(0);
    synced(&disk, &[1]);
    disk.limit_space(600);
    let file = disk.open_to_write("file").unwrap();
    assert_eq!(file.write_at(&[2; 1000], 0).unwrap(), 600);
    assert_eq!(file.write_at(&[2], 600).unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!(file.write_at(&[3; 1000], 0).unwrap(), 600);
    assert_eq!(disk.used_bytes(), 600);
}

#[test]
fn same_seed_gives_the_same_life() {
    let life = |seed| {
        let disk = Simulated::new(seed);
        synced(&disk, &[1, 1, 1, 1, 1, 1, 1, 1]);
        write(&disk.open_to_write("file").unwrap(), &[2, 2, 2, 2, 2, 2, 2, 2]);
        disk.cut_power();
        let mut left = Vec::new();
        assert!(disk.edit("file", |bytes| left.clone_from(bytes)));
        left
    };
    assert!((0..20).all(|seed| life(seed) == life(seed)));
    assert!(2 < (0..20).map(life).collect::<BTreeSet<_>>().len());
}
