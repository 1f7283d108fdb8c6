//! The process that holds a transport: what it says there when its host ends, and when its host drops it.

use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};

use wire::{Frame, Frames, Kind};

/// A carrier whose transport returns what it takes, and ends after a greeting and a goodbye.
struct Carrier {
    process: Child,
    frames: std::fs::File,
    control: OwnedFd,
}

fn carrier() -> Carrier {
    let (control, theirs) = sys::socket_pair().expect("sockets");
    let (read, frames) = sys::pipe().expect("a pipe");
    sys::send(control.as_fd(), &[0], &[read.as_raw_fd()]).expect("room");
    let most = bytes(Kind::Greeting, 5).len() + bytes(Kind::Goodbye, 0).len();
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent-bash-host"));
    let process = command
        .args([supervisor::CARRY, "dd", "bs=1", &format!("count={most}"), "status=none"])
        .stdin(theirs)
        .stdout(Stdio::piped())
        .spawn();
    Carrier { process: process.expect("a carrier"), frames: frames.into(), control }
}

fn bytes(kind: Kind, payload: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    Frame::unnumbered(kind, vec![7; payload]).encode(&mut bytes);
    bytes
}

/// Returns the kinds of the frames that the transport got before it ended. The host says these bytes, and ends or drops
/// it after the greeting has arrived.
fn kinds_of(said: &[u8], is_dropped: bool) -> Vec<Kind> {
    let Carrier { mut process, mut frames, control } = carrier();
    frames.write_all(said).expect("a pipe");
    let mut output = process.stdout.take().expect("piped");
    let mut got = vec![0; bytes(Kind::Greeting, 5).len()];
    output.read_exact(&mut got).expect("the first frame");
    if is_dropped {
        sys::send(control.as_fd(), &[0], &[]).expect("room");
    }
    drop((frames, control));
    output.read_to_end(&mut got).expect("the rest");
    process.wait().expect("our child");
    let mut read = Frames::default();
    read.push(&got);
    std::iter::from_fn(|| read.next_frame().expect("frames")).map(|frame| frame.kind).collect()
}

#[test]
fn a_host_that_ends_says_goodbye_and_one_that_drops_the_transport_does_not() {
    let greeting = bytes(Kind::Greeting, 5);
    let half = [greeting.clone(), bytes(Kind::Message, 10_000)[..5_000].to_vec()].concat();
    for said in [&greeting, &half] {
        assert_eq!(kinds_of(said, false), [Kind::Greeting, Kind::Goodbye]);
        assert_eq!(kinds_of(said, true), [Kind::Greeting]);
    }
}
