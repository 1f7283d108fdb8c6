//! Processes that the test has started.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::wait::{WaitPidFlag, waitpid};

use super::*;

/// A stopped process keeps every signal but SIGKILL pending. With a grace of ten seconds it would take all of them.
#[test]
fn a_stopped_process_is_continued_so_that_it_receives_the_signal() {
    let mut sleeper = Command::new("sleep").arg("300").spawn().expect("started");
    let pid = Pid::from_raw(i32::try_from(sleeper.id()).expect("a pid"));
    sys::signal(pid, Signal::SIGSTOP);
    waitpid(pid, Some(WaitPidFlag::WUNTRACED)).expect("stopped");
    let member = TreeMember::of(pid).expect("there");
    signal_and_continue(&[member], &[Signal::SIGTERM]);
    let (done, waiting) = mpsc::channel::<()>();
    let watchdog = std::thread::spawn(move || {
        if waiting.recv_timeout(Duration::from_secs(10)).is_err() {
            sys::signal(pid, Signal::SIGKILL);
        }
    });
    let exit = sleeper.wait().expect("a child");
    done.send(()).ok();
    watchdog.join().expect("no panic");
    assert_eq!(exit.signal(), Some(libc::SIGTERM));
}
