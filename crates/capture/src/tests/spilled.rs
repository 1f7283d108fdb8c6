//! Files.

use super::*;
use crate::SpillError;
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

const ENOUGH: u64 = 1 << 30;

fn temp() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn ours(temp: &Path) -> std::path::PathBuf {
    temp.join(format!("agent-bash-{}", nix::unistd::geteuid()))
}

#[test]
fn files_are_private() {
    let temp = temp();
    let dir = SpillDir::create_private(temp.path()).unwrap();
    let file = SpillFile::create(&dir, "stdout", ENOUGH).unwrap();
    assert_eq!((mode(file.path()), mode(dir.path()), mode(&ours(temp.path()))), (0o600, 0o700, 0o700));
    assert!(file.path().starts_with(temp.path()));
    let other = SpillFile::create(&dir, "std/../err", ENOUGH).unwrap();
    assert_eq!(other.path().parent(), Some(dir.path()));
    assert_ne!(other.path(), file.path());
}

#[test]
fn a_planted_symlink_is_refused() {
    let temp = temp();
    let elsewhere = temp.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, ours(temp.path())).unwrap();
    assert!(matches!(SpillDir::create_private(temp.path()), Err(SpillError::Folder { .. })));

    fs::remove_file(ours(temp.path())).unwrap();
    let dir = SpillDir::create_private(temp.path()).unwrap();
    fs::remove_dir(dir.path()).unwrap();
    symlink(&elsewhere, dir.path()).unwrap();
    let error = SpillFile::create(&dir, "stdout", ENOUGH).unwrap_err();
    assert!(error.brief().len() <= 80, "{}", error.brief());
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_private_folder_that_is_too_open_is_mended_and_a_lost_one_made_again() {
    let temp = temp();
    let dir = SpillDir::create_private(temp.path()).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    SpillFile::create(&dir, "stdout", ENOUGH).unwrap();
    assert_eq!(mode(dir.path()), 0o700);
    fs::remove_dir_all(ours(temp.path())).unwrap();
    SpillFile::create(&dir, "stdout", ENOUGH).unwrap();
}

#[test]
fn a_folder_that_was_given_keeps_its_mode() {
    let temp = temp();
    let made = SpillDir::create_given(&temp.path().join("a/b")).unwrap();
    assert_eq!((mode(made.path()), mode(&temp.path().join("a"))), (0o700, 0o700));
    let there = temp.path().join("there");
    fs::create_dir(&there).unwrap();
    fs::set_permissions(&there, fs::Permissions::from_mode(0o755)).unwrap();
    let file = SpillFile::create(&SpillDir::create_given(&there).unwrap(), "stdout", ENOUGH).unwrap();
    assert_eq!((mode(&there), mode(file.path())), (0o755, 0o600));
    fs::write(temp.path().join("file"), "").unwrap();
    assert!(SpillDir::create_given(&temp.path().join("file")).is_err());
}

#[test]
fn an_allocated_place_is_overwritten_only_if_regular() {
    let temp = temp();
    let place = temp.path().join("artifact");
    fs::write(&place, "something much longer that was there").unwrap();
    let mut file = SpillFile::open_artifact(&place, "a1".into(), ENOUGH).unwrap();
    file.write("new");
    assert_eq!((fs::read_to_string(&place).unwrap().as_str(), file.artifact_id()), ("new", Some("a1")));

    let pipe = temp.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(SpillFile::open_artifact(&pipe, "p".into(), ENOUGH).is_err(), "and does not wait");
    let link = temp.path().join("link");
    symlink(&place, &link).unwrap();
    assert!(SpillFile::open_artifact(&link, "l".into(), ENOUGH).is_err());
    assert!(matches!(
        SpillFile::open_artifact(Path::new("/dev/null"), "n".into(), ENOUGH),
        Err(SpillError::NotRegular { .. })
    ));
    assert!(SpillFile::open_artifact(temp.path(), "d".into(), ENOUGH).is_err());
}

#[test]
fn the_notice_names_the_file() {
    let temp = temp();
    let dir = SpillDir::create_private(temp.path()).unwrap();
    let mut capture = StreamCapture::new("stdout", TruncationPolicy::default(), Some(COLLAPSE), false);
    let input = b"line\n".repeat(30_000);
    for piece in input.chunks(4096) {
        capture.push(piece);
        if capture.wants_spill() {
            capture.spill_to(SpillFile::create(&dir, "stdout", ENOUGH).unwrap());
        }
    }
    let captured = capture.finish();
    let cut = captured.truncation.unwrap();
    let path = cut.path.unwrap();
    assert_eq!(fs::read(&path).unwrap(), input);
    let notice = format!("[stdout: Showing last 2000 of 30000 lines. Full output: {}]", path.display());
    assert_eq!((cut.notice.as_str(), cut.spill_error), (notice.as_str(), None));
    assert!(captured.text.ends_with(&format!("line\n{notice}")));
}

#[test]
fn a_full_file_keeps_its_beginning() {
    let temp = temp();
    let place = temp.path().join("x");
    let mut capture = StreamCapture::new("stdout", TruncationPolicy::default(), Some(COLLAPSE), false);
    capture.push("é\n".repeat(40_000).as_bytes());
    capture.spill_to(SpillFile::open_artifact(&place, "a1".into(), 100_000).unwrap());
    capture.push(b"more\n");
    let captured = capture.finish();
    let cut = captured.truncation.unwrap();
    assert_eq!(fs::read_to_string(&place).unwrap(), "é\n".repeat(40_000)[..99_999].to_owned() + "");
    assert_eq!(cut.spill_error.as_deref(), Some("stopped at its limit of 100000 bytes"));
    assert!(
        cut.notice
            .contains(". Full output file may be incomplete: artifact://a1 (stopped at its limit of 100000 bytes)]")
    );
    assert_eq!(captured.notes.len(), 1);
}

#[test]
fn a_full_disk_is_reported_and_the_run_goes_on() {
    let temp = temp();
    let mut file = SpillFile::open_artifact(&temp.path().join("x"), "a".into(), u64::MAX).unwrap();
    file.break_for_test();
    let mut capture = StreamCapture::new("stdout", TruncationPolicy::default(), Some(COLLAPSE), false);
    capture.push(&b"x\n".repeat(40_000));
    capture.spill_to(file);
    capture.push(b"last\n");
    let captured = capture.finish();
    assert!(captured.text.contains("\nlast\n[stdout: Showing last 2000 of 40001 lines. Full output file may be"));
    assert!(captured.truncation.unwrap().spill_error.is_some());
    assert!(captured.notes.is_empty());
}

#[test]
fn a_thread_writes_the_same_file() {
    let temp = temp();
    let place = temp.path().join("x");
    let mut capture = StreamCapture::new("stdout", TruncationPolicy::default(), Some(COLLAPSE), false);
    let input: Vec<u8> = (0..400_000).flat_map(|line| format!("line {line}\n").into_bytes()).collect();
    for piece in input.chunks(70_000) {
        capture.push(piece);
        if capture.wants_spill() {
            capture.spill_to(SpillFile::open_artifact(&place, "a".into(), ENOUGH).unwrap().with_thread());
        }
    }
    let cut = capture.finish().truncation.unwrap();
    assert_eq!(cut.spill_error, None);
    assert!(fs::read(&place).unwrap() == input, "all of it, when the result is there");
}

#[test]
fn a_thread_does_not_keep_text_back() {
    let temp = temp();
    let place = temp.path().join("x");
    let mut file = SpillFile::open_artifact(&place, "a".into(), ENOUGH).unwrap().with_thread_from(0);
    file.write("one\n");
    let soon = std::time::Instant::now() + Duration::from_secs(10);
    while fs::read_to_string(&place).unwrap() != "one\n" {
        assert!(std::time::Instant::now() < soon, "still not written");
        std::thread::sleep(Duration::from_millis(1));
    }
    file.write("two\n");
    file.close();
    file.write("three\n");
    file.close();
    assert_eq!((fs::read_to_string(&place).unwrap().as_str(), file.written(), file.error()), ("one\ntwo\n", 8, None));
}

#[test]
fn a_thread_keeps_to_the_limit() {
    let temp = temp();
    let place = temp.path().join("x");
    let mut file = SpillFile::open_artifact(&place, "a".into(), 1_000_000).unwrap().with_thread_from(0);
    for _ in 0..100 {
        file.write(&"é".repeat(10_000));
    }
    assert_eq!((fs::metadata(&place).unwrap().len(), file.written()), (1_000_000, 1_000_000));
    assert_eq!((file.is_full(), file.error()), (true, Some("stopped at its limit of 1000000 bytes")));
}

#[test]
fn a_thread_reports_a_full_disk() {
    let temp = temp();
    let mut file = SpillFile::open_artifact(&temp.path().join("x"), "a".into(), 3_000_000).unwrap().with_thread_from(0);
    file.break_for_test();
    for _ in 0..100 {
        file.write(&"x".repeat(100_000));
    }
    file.close();
    assert!(!file.is_full() && file.error().is_some_and(|error| error.contains("Bad file descriptor")));
    assert_eq!(file.written(), 0);
}

#[test]
fn only_old_files_of_ours_are_swept() {
    let temp = temp();
    let dir = SpillDir::create_private(temp.path()).unwrap();
    let old = |name: &str| {
        let path = dir.path().join(name);
        let file = fs::File::create(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(100)).unwrap();
        path
    };
    let gone = old("agent-bash-stdout-0123456789abcdef.log");
    let stay = [old("notes.log"), old("agent-bash-stdout-0123456789abcdeg.log"), old("agent-bash-x.log")];
    let fresh = SpillFile::create(&dir, "stdout", ENOUGH).unwrap();
    let folder = dir.path().join("agent-bash-stdout-0123456789abcdee.log");
    fs::create_dir(&folder).unwrap();
    dir.make_room(Duration::from_secs(50), ENOUGH);
    assert!(!gone.exists() && fresh.path().exists() && folder.exists());
    assert!(stay.iter().all(|path| path.exists()));
    dir.make_room(Duration::MAX, ENOUGH);
}

#[test]
fn the_oldest_files_go_when_all_take_too_much() {
    let temp = temp();
    let dir = SpillDir::create_private(temp.path()).unwrap();
    let file = |name: u64, age: u64| {
        let path = dir.path().join(format!("agent-bash-stdout-{name:016x}.log"));
        let file = fs::File::create(&path).unwrap();
        file.set_len(1 << 20).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        path
    };
    let [oldest, old, late, fresh] = [(1, 400), (2, 300), (3, 200), (4, 5)].map(|(name, age)| file(name, age));
    let kept = || [&oldest, &old, &late, &fresh].map(|path| path.exists());
    let room = |most| dir.make_room_within(Duration::from_secs(1_000), most);
    room(4 << 20);
    assert_eq!(kept(), [true; 4], "all of it fits");
    room((3 << 20) - 1);
    assert_eq!(kept(), [false, false, true, true]);
    room(0);
    assert_eq!(kept(), [false, false, false, true], "a command may still write it");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_file_is_the_whole_stream(input in super::clean::hostile(), size in 1usize..40, limit in 1u64..60) {
        let temp = temp();
        let place = temp.path().join("x");
        let limits = KeptTextLimits { max_bytes: Some(limit), ..KeptTextLimits::default() };
        let mut capture = StreamCapture::new("stdout", TruncationPolicy::Tail(limits), Some(COLLAPSE), false);
        let decide = |capture: &mut StreamCapture| {
            if capture.wants_spill() {
                capture.spill_to(SpillFile::open_artifact(&place, "a".into(), ENOUGH).unwrap());
            }
        };
        for piece in input.chunks(size) {
            capture.push(piece);
            decide(&mut capture);
        }
        capture.end();
        decide(&mut capture);
        let cut = capture.finish().truncation.is_some();
        prop_assert_eq!(cut, place.exists());
        if cut {
            prop_assert_eq!(fs::read_to_string(&place).unwrap(), clean(COLLAPSE, [&input[..]]));
        }
    }
}
