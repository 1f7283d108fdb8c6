//! Traces that no bash writes: the shell's memory may hold anything.

use std::time::{Duration, Instant};

use sys::{WitnessEvent, WitnessEventKind, WitnessTrace};

use super::{read, watch};
use crate::{CommandEnd, CommandEvidence};

const SCRIPT: &str = "f() { /bin/false; }; for i in 1 2; do f | cat & done; x=$(f; (f) || echo `f`); wait $!; ! f";

fn ended() -> CommandEnd {
    CommandEnd { code: Some(0), signal: None, by_itself: true }
}

/// Checks what holds for any trace.
fn check(evidence: &CommandEvidence) {
    assert!(evidence.parts.len() <= 50 && evidence.masked.len() <= 20);
    assert!(evidence.parts.iter().all(|part| part.command.chars().count() <= 200));
}

#[test]
fn a_trace_without_some_of_its_events_is_read() {
    let trace = watch::run(SCRIPT).0.expect("bash is watched");
    for left_out in 0..trace.events.len() {
        let mut trace = trace.clone();
        trace.events.remove(left_out);
        check(&read(SCRIPT, Some(&trace), ended()));
        trace.events.truncate(left_out);
        check(&read(SCRIPT, Some(&trace), ended()));
    }
}

#[test]
fn a_trace_with_changed_events_is_read() {
    let trace = watch::run(SCRIPT).0.expect("bash is watched");
    let numbers = [0, 1, 2, 7, usize::MAX, usize::MAX - 1];
    let pids = [0, -1, 1, i32::MAX, i32::MIN];
    let texts = ["", "(", "f", "/bin/false", "((((((((", "$(`", "! ! !", "\u{0}", "x=$(f"];
    let change = |event: &mut WitnessEvent, n: usize| {
        event.process = numbers[n % numbers.len()];
        event.text = texts[n % texts.len()].into();
        event.kept = "".into();
        if let WitnessEventKind::Forked { pid } | WitnessEventKind::Waited { pid, .. } = &mut event.happened {
            *pid = pids[n % pids.len()];
        }
    };
    for at in 0..trace.events.len() {
        for n in 0..30 {
            let mut trace = trace.clone();
            change(&mut trace.events[at], n);
            check(&read(SCRIPT, Some(&trace), ended()));
            let events = trace.events.len();
            trace.events.swap(at, n % events);
            check(&read(SCRIPT, Some(&trace), ended()));
        }
    }
}

#[test]
fn a_long_trace_of_an_unclear_command_is_read_in_bounded_time() {
    let all = "f() { g; g; }; g() { h || h; }; h() { $x; $y | $z; }; ".to_owned()
        + &"f; ".repeat(100)
        + "while f; do f; done";
    let event = |number, process, happened| WitnessEvent {
        number,
        process,
        happened,
        text: "$x".into(),
        kept: "".into(),
        directory: "/".into(),
        status: 0,
        substitution: false,
        errexit: false,
        pipefail: false,
        lastpipe: false,
        in_trap: false,
        in_command: true,
    };
    let fork = |n: usize| event(n, 0, WitnessEventKind::Forked { pid: i32::try_from(n).expect("small") + 2 });
    let trace = WitnessTrace { events: (0..4096).map(fork).collect(), lost: false };
    let began = Instant::now();
    check(&read(&all, Some(&trace), ended()));
    assert!(began.elapsed() < Duration::from_secs(20), "took {:?}", began.elapsed());
}
