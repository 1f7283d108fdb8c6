//! Removes the program of a target, and versions of it that nobody uses any more.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use remote::client::{RemoteTarget, TargetAddress, TargetSettings, TargetState};

use crate::support::{PATIENCE, PROGRAM, cut, program, run, settings, within};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the options of a target that keeps all its files in this directory.
fn settings_in(home: &Path) -> TargetSettings {
    let mut settings = settings(home, PATIENCE);
    let TargetAddress::Command { command, .. } = &mut settings.address else { panic!("a command") };
    command.insert(2, format!("TMPDIR={}", home.display()));
    settings
}

fn directory(home: &Path) -> PathBuf {
    home.join(format!(".cache/agent-bash-host-{}", nix::unistd::geteuid()))
}

fn age(path: &Path, days: u32) {
    File::open(path).and_then(|file| file.set_modified(SystemTime::now() - days * DAY)).expect("our file");
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory").flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

async fn gone(path: &Path) {
    within("the end of a file", async {
        while path.exists() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn versions_that_were_not_used_for_a_month_go_and_other_files_stay() {
    let home = tempfile::tempdir().expect("a directory");
    RemoteTarget::connect(settings_in(home.path())).await.expect("a target").close();
    let directory = directory(home.path());
    let own = program().sha256;
    let [old, young] = ["a".repeat(64), "b".repeat(64)];
    let part = format!(".{}", "c".repeat(32));
    let others = [("notes", 400), (&"A".repeat(64), 400), (&part, 1)];
    for (name, days) in [(own.as_str(), 40), (&old, 31), (&young, 29)].into_iter().chain(others) {
        File::options().append(true).create(true).open(directory.join(name)).expect("a file");
        age(&directory.join(name), days);
    }
    let target = RemoteTarget::connect(settings_in(home.path())).await.expect("a target");
    assert_eq!(run(&target, "echo on", "{}").outcome().await.stdout, "on\n");
    let mut expected = vec![own.clone(), young, "notes".into(), "A".repeat(64)];
    expected.sort();
    assert_eq!(names(&directory), expected);
    let used = fs::metadata(directory.join(own)).and_then(|data| data.modified()).expect("a time");
    assert!(used.elapsed().is_ok_and(|age| age < DAY));
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_ours_is_left_after_an_uninstall() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings_in(home.path())).await.expect("a target");
    assert_eq!(run(&target, "echo on", "{}").outcome().await.stdout, "on\n");
    let temp = home.path().join(format!("agent-bash-{}", nix::unistd::geteuid()));
    assert_eq!(target.facts().0.socket.parent(), Some(temp.as_path()));
    // One whose program was killed, and one that is in use.
    drop(UnixListener::bind(temp.join("host-dead.sock")).expect("a socket"));
    within("the removal", target.uninstall()).await.expect("an answer");
    assert_eq!(target.state(), TargetState::Closed);
    assert!(!directory(home.path()).exists());
    gone(&temp).await;
    assert_eq!(names(home.path()), [".cache"]);
    assert!(names(&home.path().join(".cache")).is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_others_use_or_have_installed_stays() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings_in(home.path())).await.expect("a target");
    let temp = home.path().join(format!("agent-bash-{}", nix::unistd::geteuid()));
    let _in_use = UnixListener::bind(temp.join("host-used.sock")).expect("a socket");
    fs::create_dir(temp.join("tasks")).expect("a directory");
    fs::write(temp.join("tasks/t1"), "").expect("a file");
    fs::write(directory(home.path()).join("notes"), "").expect("a file");
    let socket = target.facts().0.socket.clone();
    within("the removal", target.uninstall()).await.expect("an answer");
    gone(&socket).await;
    assert_eq!(names(&temp), ["host-used.sock", "tasks"]);
    assert_eq!(names(&directory(home.path())), ["notes"]);
    // A program that was installed by others.
    let installed = home.path().join(program().sha256);
    fs::copy(PROGRAM, &installed).expect("room");
    fs::set_permissions(&installed, PermissionsExt::from_mode(0o755)).expect("our file");
    let path = installed.to_str().expect("text").to_owned();
    let settings = TargetSettings { installed: Some(path), ..settings_in(home.path()) };
    let target = RemoteTarget::connect(settings).await.expect("a target");
    within("the removal", target.uninstall()).await.expect("an answer");
    gone(&target.facts().0.socket).await;
    assert!(installed.exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "stress: a new connection may be under way when the directory goes"]
async fn a_cut_during_an_uninstall_does_not_install_the_program_again() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings_in(home.path())).await.expect("a target");
    let mut states = target.watch();
    assert!(cut(home.path()));
    within("the cut", states.wait_for(|state| *state == TargetState::Disconnected)).await.expect("a target");
    let socket = target.facts().0.socket.clone();
    fs::remove_dir_all(directory(home.path())).expect("our directory");
    within("the removal", target.uninstall()).await.expect("an answer");
    gone(&socket).await;
    assert!(!directory(home.path()).exists());
}
