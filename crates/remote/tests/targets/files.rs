//! Reads and changes files of a target, also through cuts.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use remote::client::{RemoteTarget, TargetAddress, TargetSettings, TargetState, UnansweredRequest};
use remote::{MAX_READ, TargetDirectoryEntry, TargetFileKind};

use crate::support::{PATIENCE, cut, settings, within};

async fn target_in(home: &Path) -> Arc<RemoteTarget> {
    let cwd = home.join("work");
    fs::create_dir_all(&cwd).expect("a directory");
    let cwd = Some(cwd.to_str().expect("text").to_owned());
    RemoteTarget::connect(TargetSettings { cwd, ..settings(home, PATIENCE) }).await.expect("a target")
}

fn code<T: std::fmt::Debug>(answer: Result<T, UnansweredRequest>) -> String {
    match answer.expect_err("a refusal") {
        UnansweredRequest::Failed(error) => error.code().to_owned(),
        other => panic!("{other:?}"),
    }
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("a file").permissions().mode() & 0o7777
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory").flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Bytes without a pattern that a lost or doubled chunk would fit into.
fn content(bytes: usize) -> Vec<u8> {
    (0..bytes.div_ceil(4)).flat_map(|at| (at as u32).wrapping_mul(2_654_435_761).to_le_bytes()).take(bytes).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_written_read_listed_and_removed() {
    let home = tempfile::tempdir().expect("a directory");
    let target = target_in(home.path()).await;
    let work = home.path().join("work");
    for bytes in [0, 1, 128 * 1024, 3_000_000] {
        let whole = content(bytes);
        within("a write", target.write_file("a/b/c", whole.clone(), None)).await.expect("room");
        assert_eq!(within("a read", target.read_file("a/b/c")).await.expect("a file"), Some(whole));
    }
    assert_eq!(names(&work.join("a/b")), ["c"]);
    let stat = target.stat(work.join("a/b/c").to_str().expect("text")).await.expect("a file").expect("a file");
    let modified = fs::metadata(work.join("a/b/c")).expect("a file").modified().expect("a time");
    let millis = modified.duration_since(std::time::UNIX_EPOCH).expect("a time").as_millis();
    assert_eq!(
        (stat.kind, stat.bytes, i128::from(stat.modified_ms)),
        (TargetFileKind::File, 3_000_000, millis.cast_signed())
    );
    symlink("b", work.join("a/z")).expect("a link");
    let entry = |name: &str, kind| TargetDirectoryEntry { name: name.to_owned(), kind };
    let listed = vec![entry("b", TargetFileKind::Directory), entry("z", TargetFileKind::Link)];
    assert_eq!(target.list("a").await.expect("a directory"), Some(listed));
    assert_eq!(target.stat("a/z/").await.expect("a link").expect("a link").kind, TargetFileKind::Link);
    assert!(target.remove("a/z/", true).await.expect("a link"));
    assert_eq!(names(&work.join("a")), ["b"]);
    assert_eq!(code(target.remove("a", false).await), "ENOTEMPTY");
    assert!(target.remove("a", true).await.expect("a directory"));
    assert!(!target.remove("a", true).await.expect("nothing"));
    assert_eq!(target.read_file("a/b/c").await.expect("nothing"), None);
    assert_eq!(target.stat("a").await.expect("nothing"), None);
    assert_eq!(target.list("a").await.expect("nothing"), None);
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn modes_are_kept_and_links_are_followed() {
    let home = tempfile::tempdir().expect("a directory");
    let target = target_in(home.path()).await;
    let work = home.path().join("work");
    let write = async |path: &str, mode| within("a write", target.write_file(path, b"new".to_vec(), mode)).await;
    let umask = target.facts().0.umask;
    write("plain", None).await.expect("room");
    write("given", Some(0o4751)).await.expect("room");
    assert_eq!((mode(&work.join("plain")), mode(&work.join("given"))), (0o666 & !umask, 0o4751));
    fs::set_permissions(work.join("plain"), PermissionsExt::from_mode(0o751)).expect("our file");
    write("plain", Some(0o600)).await.expect("room");
    assert_eq!(mode(&work.join("plain")), 0o751);
    fs::create_dir(work.join("other")).expect("a directory");
    for (link, to, real) in [("link", "other/real", "other/real"), ("other/again", "../link", "other/real")] {
        symlink(to, work.join(link)).expect("a link");
        write(link, None).await.expect("room");
        assert!(work.join(link).is_symlink());
        assert_eq!(fs::read(work.join(real)).expect("a file"), b"new");
    }
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_refused_names_its_error_and_leaves_nothing() {
    let home = tempfile::tempdir().expect("a directory");
    let target = target_in(home.path()).await;
    let work = home.path().join("work");
    let write = async |path: &str| code(within("a write", target.write_file(path, content(3_000_000), None)).await);
    fs::write(work.join("file"), "old").expect("a file");
    fs::create_dir(work.join("directory")).expect("a directory");
    symlink("loop", work.join("loop")).expect("a link");
    assert_eq!(write("directory").await, "EISDIR");
    assert_eq!(write("file/below/it").await, "ENOTDIR");
    assert_eq!(write("loop").await, "ELOOP");
    assert_eq!(write("/dev/null").await, "ERR_BASH_INVALID_ARG");
    assert_eq!(write("/proc/none/x").await, "ENOENT");
    assert_eq!(write("").await, "ERR_BASH_INVALID_ARG");
    assert_eq!(write(&format!("new/deep/{}", "x".repeat(300))).await, "ENAMETOOLONG");
    assert_eq!(code(target.read_file("directory").await), "EISDIR");
    assert_eq!(code(target.read_file("/dev/zero").await), "ERR_BASH_INVALID_ARG");
    assert_eq!(code(target.list("file").await), "ENOTDIR");
    assert_eq!(code(target.stat("file/x").await), "ENOTDIR");
    assert_eq!(code(target.remove("directory/..", true).await), "ERR_BASH_INVALID_ARG");
    assert_eq!(code(target.remove("/", true).await), "ERR_BASH_INVALID_ARG");
    let long = fs::File::create(work.join("long")).expect("a file");
    long.set_len(MAX_READ as u64 + 1).expect("room");
    assert_eq!(code(target.read_file("long").await), "ERR_BASH_INVALID_ARG");
    assert_eq!(names(&work), ["directory", "file", "long", "loop"]);
    assert_eq!(fs::read(work.join("file")).expect("a file"), b"old");
    assert!(within("a read", target.read_file("/proc/self/status")).await.expect("a file").is_some());
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_keeps_the_old_file_and_nothing_else() {
    let home = tempfile::tempdir().expect("a directory");
    let mut settings = settings(home.path(), PATIENCE);
    let TargetAddress::Command { command, .. } = &mut settings.address else { panic!("a command") };
    // Disks of its own, which end with the program.
    let at = command.iter().position(|word| word == "-c").expect("a script") + 1;
    let disks =
        r#"mkdir -p ~/full ~/fixed; mount -t tmpfs -o size=1m full ~/full; mount -t tmpfs -o ro fixed ~/fixed; "#;
    command[at].insert_str(0, disks);
    command.splice(..0, ["unshare", "-rm"].map(str::to_owned));
    let target = RemoteTarget::connect(settings).await.expect("a target");
    within("a write", target.write_file("full/file", b"old".to_vec(), None)).await.expect("room");
    for path in ["full/file", "full/new/deep/file"] {
        assert_eq!(code(within("a write", target.write_file(path, content(3_000_000), None)).await), "ENOSPC");
    }
    let listed = target.list("full").await.expect("a directory").expect("a directory");
    assert_eq!(listed, [TargetDirectoryEntry { name: "file".into(), kind: TargetFileKind::File }]);
    assert_eq!(target.read_file("full/file").await.expect("a file").as_deref(), Some(&b"old"[..]));
    let error = target.write_file("fixed/new/file", Vec::new(), None).await.expect_err("a disk that is read-only");
    let UnansweredRequest::Failed(error) = error else { panic!("{error:?}") };
    let message = format!("{}/fixed/new/file cannot be written: EROFS: Read-only file system", home.path().display());
    assert_eq!((error.code(), error.to_string()), ("EROFS", message));
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_goes_on_through_cuts_and_is_whole() {
    let home = tempfile::tempdir().expect("a directory");
    let target = target_in(home.path()).await;
    let whole = content(24 << 20);
    fs::write(home.path().join("work/big"), &whole).expect("room");
    let read = tokio::spawn(target.read_file("big"));
    let cuts = cut_until(home.path(), &target, || read.is_finished()).await;
    let read = within("the read", read).await.expect("no panic").expect("a file").expect("a file");
    assert!(read == whole && cuts > 1, "{} bytes after {cuts} cuts", read.len());
    target.close();
}

/// Cuts the link again and again until the transfer has ended, at most five times. Returns how often.
async fn cut_until(home: &Path, target: &Arc<RemoteTarget>, ended: impl Fn() -> bool) -> usize {
    let mut states = target.watch();
    let mut cuts = 0;
    within("the transfer", async {
        while !ended() {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if cuts < 5 && *states.borrow_and_update() == TargetState::Connected && cut(home) {
                states.changed().await.expect("a target");
                cuts += 1;
            }
        }
    })
    .await;
    cuts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_goes_on_through_cuts_and_the_file_is_absent_or_whole() {
    let home = tempfile::tempdir().expect("a directory");
    let target = target_in(home.path()).await;
    let whole = content(24 << 20);
    let written = tokio::spawn(target.write_file("new/big", whole.clone(), None));
    let path = home.path().join("work/new/big");
    let cuts = cut_until(home.path(), &target, || {
        let length = fs::metadata(&path).map(|data| data.len());
        assert!(length.as_ref().map_or(true, |length| *length == whole.len() as u64), "{length:?}");
        written.is_finished()
    })
    .await;
    within("the write", written).await.expect("no panic").expect("room");
    assert!(fs::read(&path).expect("a file") == whole && cuts > 1, "after {cuts} cuts");
    assert_eq!(names(&home.path().join("work/new")), ["big"]);
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_is_given_up_or_outlives_the_lease_leaves_nothing() {
    let home = tempfile::tempdir().expect("a directory");
    let target = target_in(home.path()).await;
    let work = home.path().join("work");
    let begun = || async {
        while !work.join("new").exists() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let gone = || async {
        while work.join("new").exists() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let write = tokio::spawn(target.write_file("new/deep/big", content(24 << 20), None));
    within("the start", begun()).await;
    write.abort();
    within("the end of what was given up", gone()).await;
    let write = tokio::spawn(target.write_file("new/deep/big", content(24 << 20), None));
    within("the start", begun()).await;
    target.close();
    within("the end of the program", gone()).await;
    assert!(matches!(within("the write", write).await.expect("no panic"), Err(UnansweredRequest::Lost(_))));
    assert!(names(&work).is_empty());
}
