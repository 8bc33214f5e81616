//! One owner for a folder, and folders that are refused.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};

use seckill_engine_embedded::lock::{Error, Lock};

use crate::fixture::Folder;

#[test]
fn second_owner_is_refused_and_told_the_first_ones_process() {
    let folder = Folder::new();
    let first = Lock::acquire(folder.path()).unwrap();
    let error = Lock::acquire(folder.path()).unwrap_err();
    assert!(
        matches!(error, Error::Held { pid: Some(pid), .. } if pid == std::process::id()),
        "{error:?}"
    );
    assert!(
        error
            .to_string()
            .ends_with(&format!("is in use by process {}; stop it first", std::process::id())),
        "{error}"
    );
    drop(first);
    Lock::acquire(folder.path()).unwrap();
}

#[test]
fn missing_folder_is_made_for_its_owner_only() {
    let folder = Folder::new();
    let path = folder.file("a").join("b");
    let _lock = Lock::acquire(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(
        fs::metadata(path.join("LOCK")).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn read_only_folder_is_refused() {
    let folder = Folder::new();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
    assert!(matches!(Lock::acquire(folder.path()), Err(Error::ReadOnly(_))));
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    Lock::acquire(folder.path()).unwrap();
}

#[test]
fn folder_of_another_user_is_refused() {
    let folder = Folder::new();
    let another = rustix::process::geteuid().as_raw() + 1;
    if chown(folder.path(), Some(another), None).is_err() {
        // Only the superuser may give a folder away; the root folder is somebody else's for everybody else.
        assert!(matches!(
            Lock::acquire("/".as_ref()),
            Err(Error::Foreign { owner: 0, .. })
        ));
        return;
    }
    assert!(matches!(Lock::acquire(folder.path()), Err(Error::Foreign { owner, .. }) if owner == another));
}

#[test]
fn links_and_files_are_refused() {
    let folder = Folder::new();
    let target = folder.file("target");
    fs::create_dir(&target).unwrap();
    symlink(&target, folder.file("link")).unwrap();
    assert!(matches!(Lock::acquire(&folder.file("link")), Err(Error::Link(_))));
    symlink(folder.file("elsewhere"), target.join("LOCK")).unwrap();
    assert!(matches!(Lock::acquire(&target), Err(Error::Link(_))));
    fs::write(folder.file("file"), b"").unwrap();
    assert!(matches!(Lock::acquire(&folder.file("file")), Err(Error::NotAFolder(_))));
}
