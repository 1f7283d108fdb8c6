//! The process that holds a transport: what it says there when its host ends, and when its host drops it.

use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};

use wire::{FrameKind, WireFrame, WireFrameReader};

use crate::support::PROGRAM;

/// A carrier that was started as a host does it.
struct StartedCarrier {
    process: Child,
    frames: std::fs::File,
    control: OwnedFd,
}

fn carrier(transport: &[&str]) -> StartedCarrier {
    let (control, theirs) = sys::socket_pair().expect("sockets");
    let (read, frames) = sys::pipe().expect("a pipe");
    sys::send(control.as_fd(), &[0], &[read.as_raw_fd()]).expect("room");
    let mut command = Command::new(PROGRAM);
    let process = command.arg(supervisor::CARRY).args(transport).stdin(theirs).stdout(Stdio::piped()).spawn();
    StartedCarrier { process: process.expect("a carrier"), frames: frames.into(), control }
}

fn bytes(kind: FrameKind, payload: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    WireFrame::unnumbered(kind, vec![7; payload]).encode(&mut bytes);
    bytes
}

/// Returns the kinds of the frames that a transport got before it ended, which it does after a greeting and a goodbye.
/// The host says these bytes, and ends or drops it after the greeting has arrived.
fn kinds_of(said: &[u8], is_dropped: bool) -> Vec<FrameKind> {
    let most = bytes(FrameKind::Greeting, 5).len() + bytes(FrameKind::Goodbye, 0).len();
    let StartedCarrier { mut process, mut frames, control } =
        carrier(&["dd", "bs=1", &format!("count={most}"), "status=none"]);
    frames.write_all(said).expect("a pipe");
    let mut output = process.stdout.take().expect("piped");
    let mut got = vec![0; bytes(FrameKind::Greeting, 5).len()];
    output.read_exact(&mut got).expect("the first frame");
    if is_dropped {
        sys::send(control.as_fd(), &[0], &[]).expect("room");
    }
    drop((frames, control));
    output.read_to_end(&mut got).expect("the rest");
    process.wait().expect("our child");
    let mut read = WireFrameReader::default();
    read.push(&got);
    std::iter::from_fn(|| read.next_frame().expect("frames")).map(|frame| frame.kind).collect()
}

#[test]
fn a_host_that_ends_says_goodbye_and_one_that_drops_the_transport_does_not() {
    let greeting = bytes(FrameKind::Greeting, 5);
    let half = [greeting.clone(), bytes(FrameKind::Message, 10_000)[..5_000].to_vec()].concat();
    for said in [&greeting, &half] {
        assert_eq!(kinds_of(said, false), [FrameKind::Greeting, FrameKind::Goodbye]);
        assert_eq!(kinds_of(said, true), [FrameKind::Greeting]);
    }
}

#[test]
fn a_dead_transport_is_seen_though_another_process_holds_its_streams() {
    // `setsid` takes the holder out of the group, which ends with the transport.
    let holder = "setsid sleep 60 <&0 & echo $!; exit 3";
    let StartedCarrier { mut process, frames: _frames, control: _control } = carrier(&["bash", "-c", holder]);
    let mut output = process.stdout.take().expect("piped");
    let mut said = Vec::new();
    // The holder has the streams of the transport, not those of the carrier.
    output.read_to_end(&mut said).expect("the end of the carrier");
    assert_eq!(process.wait().expect("our child").code(), Some(3));
    let holder = String::from_utf8(said).expect("a pid").trim().parse().expect("a pid");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(holder), nix::sys::signal::Signal::SIGKILL).expect("it lives");
}
