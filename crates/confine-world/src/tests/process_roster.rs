//! The processes of a world without namespaces.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::unistd::Pid;

use crate::ProcessRoster;

fn start(script: &str) -> Child {
    let mut command = Command::new("bash");
    command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().expect("started")
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed())
}

/// Reads the pid that a script prints.
fn printed(child: &mut Child) -> Pid {
    let mut line = String::new();
    let output = child.stdout.as_mut().expect("output");
    io::BufRead::read_line(&mut io::BufReader::new(output), &mut line).expect("a line");
    Pid::from_raw(line.trim().parse().expect("a pid"))
}

#[test]
fn a_world_has_the_descendants_of_its_shims_alone() {
    let home = tempfile::tempdir().expect("a directory");
    let roster = ProcessRoster::create(home.path()).expect("made");
    let [mut shim, mut other] = [0; 2].map(|_| start("bash -c 'bash -c \"echo \\$\\$; read\"; :'; :"));
    let [inside, outside] = [printed(&mut shim), printed(&mut other)];
    assert!(!roster.has(inside) && roster.all().is_empty());
    roster.add(pid(&shim)).expect("added");
    for (process, is_inside) in
        [(inside, true), (outside, false), (pid(&shim), false), (pid(&other), false), (nix::unistd::getpid(), false)]
    {
        assert_eq!((roster.has(process), roster.all().contains(&process)), (is_inside, is_inside), "{process}");
    }
    roster.add(pid(&other)).expect("added");
    assert!(roster.has(outside) && roster.has(inside));
    for child in [&mut shim, &mut other] {
        drop(child.stdin.take());
        child.wait().expect("ended");
    }
    assert!(!roster.has(inside) && roster.all().is_empty());
}

#[test]
fn a_shim_that_ended_gives_its_place_to_nobody() {
    let home = tempfile::tempdir().expect("a directory");
    let roster = ProcessRoster::create(home.path()).expect("made");
    let mut shim = start("bash -c 'echo $$; read'; :");
    let inside = printed(&mut shim);
    // A process that had the shim's pid before.
    fs::write(home.path().join("shims"), format!("{} 1\nnonsense\n7\n", pid(&shim))).expect("written");
    assert!(!roster.has(inside));
    roster.add(pid(&shim)).expect("added");
    let lines = fs::read_to_string(home.path().join("shims")).expect("read");
    assert_eq!(lines.lines().count(), 1, "{lines}");
    assert!(roster.has(inside));
    drop(shim.stdin.take());
    shim.wait().expect("ended");
}

#[test]
fn the_list_has_the_processes_of_now_and_the_rest_of_proc() {
    let home = tempfile::tempdir().expect("a directory");
    let roster = ProcessRoster::create(home.path()).expect("made");
    let mut shim = start("bash -c 'echo $$; read'; :");
    let inside = printed(&mut shim);
    roster.add(pid(&shim)).expect("added");
    let numbers = || {
        roster.update().expect("listed");
        let names = fs::read_dir(roster.list_directory()).expect("read").flatten();
        names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).map(Pid::from_raw).collect::<Vec<_>>()
    };
    assert_eq!(numbers(), [inside]);
    assert!(roster.list_directory().join("meminfo").is_file() && roster.list_directory().join("sys").is_dir());
    assert_eq!(fs::read_link(roster.list_directory().join("self")).expect("a link"), Path::new("/proc/self"));
    drop(shim.stdin.take());
    shim.wait().expect("ended");
    assert!(numbers().is_empty());
}
