//! The writer against links, pipes, other names, torn lines and other processes.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::*;
use crate::ledger_sweep::{KEEP_DAYS, sweep_files};

const NOON: u64 = 1_767_268_800_000;
const DAY: u64 = 86_400_000;

struct TestLedgerDirectory {
    temp: tempfile::TempDir,
}

impl TestLedgerDirectory {
    fn new() -> Self {
        Self { temp: tempfile::tempdir().expect("a directory") }
    }

    fn directory(&self) -> PathBuf {
        self.temp.path().join("state/agent-bash/ledger")
    }

    fn file(&self) -> PathBuf {
        self.file_of(NOON)
    }

    fn file_of(&self, at: u64) -> PathBuf {
        self.directory().join(LedgerDay::of(at).file_name())
    }

    fn writer(&self) -> LedgerWriter {
        LedgerWriter::new(self.directory())
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).expect("the file")
    }
}

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).expect("there").mode() & 0o777
}

#[test]
fn directories_and_files_are_private() {
    let place = TestLedgerDirectory::new();
    place.writer().append(NOON, b"x\n").expect("written");
    let directory = place.directory();
    for path in [&directory, directory.parent().expect("one"), &place.temp.path().join("state")] {
        assert_eq!(mode(path), 0o700, "{}", path.display());
    }
    assert_eq!(mode(&place.file()), 0o600);
    assert_eq!(place.text(), "x\n");
}

#[test]
fn a_directory_that_others_may_enter_is_made_private() {
    let place = TestLedgerDirectory::new();
    fs::create_dir_all(place.directory()).expect("a directory");
    let directory = place.directory();
    for path in [&directory, directory.parent().expect("one")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("set");
    }
    File::create(place.file()).expect("a file").set_permissions(fs::Permissions::from_mode(0o644)).expect("set");
    place.writer().append(NOON, b"x\n").expect("written");
    assert_eq!((mode(&directory), mode(directory.parent().expect("one")), mode(&place.file())), (0o700, 0o700, 0o600));
}

#[test]
fn each_day_has_its_file() {
    let place = TestLedgerDirectory::new();
    let mut writer = place.writer();
    for at in [NOON, NOON + DAY, NOON + 1, NOON + DAY + 1] {
        writer.append(at, b"x\n").expect("written");
    }
    assert_eq!(place.text(), "x\nx\n");
    assert_eq!(fs::read(place.file_of(NOON + DAY)).expect("a file"), b"x\nx\n");
}

#[test]
fn what_is_not_ours_is_not_written_to() {
    type Row = (&'static str, fn(&TestLedgerDirectory));
    let strange: [Row; 6] = [
        ("a link", |place| {
            fs::write(place.temp.path().join("other"), "").expect("a file");
            symlink(place.temp.path().join("other"), place.file()).expect("a link");
        }),
        ("a link to nothing", |place| symlink("nowhere", place.file()).expect("a link")),
        ("a pipe", |place| mkfifo(&place.file(), Mode::S_IRWXU).expect("a pipe")),
        ("a directory", |place| fs::create_dir(place.file()).expect("a directory")),
        ("a second name", |place| {
            fs::write(place.file(), "").expect("a file");
            fs::hard_link(place.file(), place.temp.path().join("other")).expect("a name");
        }),
        ("a directory that is a link", |place| {
            fs::rename(place.directory(), place.temp.path().join("moved")).expect("moved");
            symlink(place.temp.path().join("moved"), place.directory()).expect("a link");
        }),
    ];
    for (what, make) in strange {
        let place = TestLedgerDirectory::new();
        fs::create_dir_all(place.directory()).expect("a directory");
        make(&place);
        let begin = std::time::Instant::now();
        let error = place.writer().append(NOON, b"secret\n").expect_err(what);
        assert!(begin.elapsed().as_secs() < 30, "{what}: it blocks");
        assert!(!error.to_string().is_empty(), "{what}");
        for path in
            [place.temp.path().join("other"), place.temp.path().join("moved").join(LedgerDay::of(NOON).file_name())]
        {
            assert!(fs::read(path).unwrap_or_default().is_empty(), "{what}: it was written to");
        }
    }
}

#[test]
fn a_link_above_is_not_followed_either() {
    let place = TestLedgerDirectory::new();
    let state = place.temp.path().join("state");
    fs::create_dir_all(place.temp.path().join("moved")).expect("a directory");
    fs::create_dir_all(&state).expect("a directory");
    symlink(place.temp.path().join("moved"), state.join("agent-bash")).expect("a link");
    place.writer().append(NOON, b"x\n").expect_err("a link");
    assert_eq!(fs::read_dir(place.temp.path().join("moved")).expect("there").count(), 0);
}

#[test]
fn a_file_that_becomes_strange_later_is_not_written_to() {
    let place = TestLedgerDirectory::new();
    let mut writer = place.writer();
    writer.append(NOON, b"a\n").expect("written");
    let other = place.temp.path().join("other");
    fs::hard_link(place.file(), &other).expect("a name");
    writer.append(NOON, b"b\n").expect_err("a second name");
    fs::remove_file(&other).expect("removed");
    writer.append(NOON, b"c\n").expect("one name");
    assert_eq!(place.text(), "a\nc\n");
    fs::rename(place.file(), &other).expect("moved");
    symlink(&other, place.file()).expect("a link");
    writer.append(NOON, b"d\n").expect_err("a link");
    assert_eq!(fs::read(&other).expect("there"), b"a\nc\n");
}

#[test]
fn a_file_or_directory_that_was_removed_is_made_again() {
    let place = TestLedgerDirectory::new();
    let mut writer = place.writer();
    writer.append(NOON, b"a\n").expect("written");
    fs::remove_file(place.file()).expect("removed");
    writer.append(NOON, b"b\n").expect("written");
    assert_eq!(place.text(), "b\n");
    fs::remove_dir_all(place.temp.path().join("state")).expect("removed");
    writer.append(NOON, b"c\n").expect("written");
    assert_eq!(place.text(), "c\n");
    fs::rename(place.directory(), place.temp.path().join("moved")).expect("moved");
    writer.append(NOON, b"d\n").expect("written");
    assert_eq!(place.text(), "d\n");
}

#[test]
fn a_file_without_a_final_newline_gets_one_first() {
    let place = TestLedgerDirectory::new();
    let mut writer = place.writer();
    writer.append(NOON, b"a\n").expect("written");
    use std::io::Write;
    let mut torn = File::options().append(true).open(place.file()).expect("the file");
    torn.write_all(b"torn").expect("written");
    writer.append(NOON, b"b\n").expect("written");
    place.writer().append(NOON, b"c\n").expect("written");
    assert_eq!(place.text(), "a\ntorn\nb\nc\n");
}

#[test]
fn a_full_day_takes_no_more() {
    let place = TestLedgerDirectory::new();
    let mut writer = place.writer();
    writer.append(NOON, b"a\n").expect("written");
    File::options().write(true).open(place.file()).expect("the file").set_len(MAX_FILE - 1).expect("a hole");
    let error = writer.append(NOON, b"b\n").expect_err("full");
    assert!(error.to_string().contains("has reached its limit"), "{error}");
    writer.append(NOON + DAY, b"b\n").expect("another day");
}

#[test]
fn a_full_day_takes_no_more_unchecked_records() {
    let place = TestLedgerDirectory::new();
    let mut writer = place.writer();
    writer.append(NOON, b"a\n").expect("written");
    File::options().write(true).open(place.file()).expect("the file").set_len(MAX_FILE).expect("a hole");
    writer.append_unchecked(NOON, b"b\n".to_vec()).expect("it is seen afterwards");
    writer.check_last_record();
    for _ in 0..2 {
        let error = writer.append_unchecked(NOON, b"c\n".to_vec()).expect_err("full");
        assert!(error.to_string().contains("has reached its limit"), "{error}");
        writer.check_last_record();
    }
    assert_eq!(place.file().metadata().expect("there").len(), MAX_FILE + 2);
}

#[test]
fn records_of_many_writers_are_whole_and_none_is_mixed() {
    let place = TestLedgerDirectory::new();
    let directory = place.directory();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let directory = directory.clone();
            scope.spawn(move || {
                let mut writer = LedgerWriter::new(directory);
                for at in 0..500 {
                    let line = format!("{number}:{at}:{}\n", "x".repeat((number * 997 + at * 13) % 9000));
                    writer.append(NOON, line.as_bytes()).expect("written");
                }
            });
        }
    });
    let text = place.text();
    let mut seen: Vec<(usize, usize)> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let mut parts = line.split(':');
        let mut number = || parts.next().and_then(|part| part.parse().ok()).expect("a number");
        let (number, at): (usize, usize) = (number(), number());
        assert_eq!(line.len(), format!("{number}:{at}:").len() + (number * 997 + at * 13) % 9000);
        seen.push((number, at));
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 4000);
}

#[test]
fn old_files_are_removed_and_nothing_else() {
    let place = TestLedgerDirectory::new();
    let mut writer = place.writer();
    let days = [0, 1, KEEP_DAYS - 1, KEEP_DAYS, KEEP_DAYS + 1, 400];
    for day in days {
        writer.append(NOON - day * DAY, b"x\n").expect("written");
    }
    let stays = ["notes.txt", "2020-01-01.jsonl.bak", "2020-13-01.jsonl", "2020-01-01", "x2020-01-01.jsonl"];
    for name in stays {
        fs::write(place.directory().join(name), "x").expect("written");
    }
    let outside = place.temp.path().join("outside");
    fs::write(&outside, "x").expect("written");
    symlink(&outside, place.directory().join("2020-02-01.jsonl")).expect("a link");
    fs::create_dir(place.directory().join("2020-03-01.jsonl")).expect("a directory");
    sweep_files(&place.directory(), NOON);
    for day in days {
        assert_eq!(place.file_of(NOON - day * DAY).exists(), day <= KEEP_DAYS, "{day}");
    }
    for name in stays.iter().chain(&["2020-02-01.jsonl", "2020-03-01.jsonl"]) {
        assert!(place.directory().join(name).symlink_metadata().is_ok(), "{name}");
    }
    assert!(outside.exists());
    for day in [KEEP_DAYS + 1, 400] {
        let day = LedgerDay::of(NOON - day * DAY);
        let name = day.file_name();
        assert!(place.text().contains(name), "the removal of {name} is recorded");
    }
    let before = place.text();
    sweep_files(&place.directory(), NOON);
    assert_eq!(place.text(), before, "once");
}

#[test]
fn nothing_is_removed_behind_a_link() {
    let place = TestLedgerDirectory::new();
    let elsewhere = place.temp.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a directory");
    fs::write(elsewhere.join("2020-01-01.jsonl"), "x").expect("written");
    fs::create_dir_all(place.directory().parent().expect("a parent")).expect("a directory");
    symlink(&elsewhere, place.directory()).expect("a link");
    sweep_files(&place.directory(), NOON);
    assert!(elsewhere.join("2020-01-01.jsonl").exists());
}

#[test]
fn the_oldest_of_too_many_bytes_are_removed_and_never_the_file_of_the_day() {
    let place = TestLedgerDirectory::new();
    let mut writer = place.writer();
    for day in [3, 2, 1, 0] {
        writer.append(NOON - day * DAY, b"x\n").expect("written");
        let file = File::options().write(true).open(place.file_of(NOON - day * DAY)).expect("the file");
        // A hole takes no room on the disk.
        file.set_len(100 * 1024 * 1024).expect("a hole");
    }
    sweep_files(&place.directory(), NOON);
    let left: Vec<bool> = [3, 2, 1, 0].map(|day| place.file_of(NOON - day * DAY).exists()).into();
    assert_eq!(left, [false, false, true, true]);
    File::options().write(true).open(place.file()).expect("the file").set_len(250 * 1024 * 1024).expect("a hole");
    sweep_files(&place.directory(), NOON);
    assert!(place.file().exists() && !place.file_of(NOON - DAY).exists());
}

#[test]
fn a_clock_that_is_wrong_costs_no_file_of_the_day() {
    let place = TestLedgerDirectory::new();
    let mut writer = place.writer();
    writer.append(0, b"x\n").expect("1970");
    writer.append(NOON, b"x\n").expect("today");
    writer.append(NOON + 4000 * DAY, b"x\n").expect("later");
    sweep_files(&place.directory(), 0);
    assert!([0, NOON, NOON + 4000 * DAY].iter().all(|at| place.file_of(*at).exists()), "nothing is older than 1970");
}

#[test]
fn the_sweep_of_a_directory_that_is_not_there_does_not_make_it() {
    let place = TestLedgerDirectory::new();
    sweep_files(&place.directory(), NOON);
    assert!(!place.directory().exists());
}

#[test]
fn a_record_is_written_first_and_checked_afterwards() {
    let place = TestLedgerDirectory::new();
    let mut writer = place.writer();
    writer.append_unchecked(NOON, b"a\n".to_vec()).expect("written");
    writer.append_unchecked(NOON, b"b\n".to_vec()).expect("written");
    writer.check_last_record();
    writer.check_last_record();
    assert_eq!(place.text(), "a\nb\n", "nothing is written twice");
    writer.append_unchecked(NOON + DAY, b"c\n".to_vec()).expect("written");
    assert_eq!(fs::read(place.file_of(NOON + DAY)).expect("a file"), b"c\n");
}

#[test]
fn a_record_behind_half_a_line_is_written_again() {
    use std::io::Write;
    let place = TestLedgerDirectory::new();
    let mut writer = place.writer();
    writer.append(NOON, b"a\n").expect("written");
    let torn = |text: &[u8]| {
        File::options().append(true).open(place.file()).expect("the file").write_all(text).expect("written");
    };
    torn(b"half");
    writer.append_unchecked(NOON, b"b\n".to_vec()).expect("written");
    torn(b"half");
    writer.check_last_record();
    assert_eq!(place.text(), "a\nhalfb\nhalf\nb\n");
}

#[test]
fn a_record_in_a_file_that_was_removed_or_replaced_is_written_again() {
    let place = TestLedgerDirectory::new();
    let mut writer = place.writer();
    for text in ["", "other\n"] {
        writer.append(NOON, b"a\n").expect("written");
        fs::rename(place.file(), place.temp.path().join("moved")).expect("moved");
        if !text.is_empty() {
            fs::write(place.file(), text).expect("written");
        }
        writer.append_unchecked(NOON, b"b\n".to_vec()).expect("written");
        writer.check_last_record();
        assert_eq!(place.text(), format!("{text}b\n"));
    }
}
