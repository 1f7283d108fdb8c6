//! What a compromised machine may send: the host gives it up, and neither hangs nor fills.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use capture::OutputStream;
use proptest::test_runner::{Config, TestRunner};
use protocol::SurvivingProcess;
use reduce::ReducedView;
use reduce::class::OutputClass;
use remote::client::{
    DistantRunEnd, RemoteTarget, TargetAddress, TargetErrorReason, TargetSettings, TargetState, TransportOrigin,
    TransportQuoting,
};
use remote::{
    GreetingFromProgram, MachineLoad, ProgramToken, TargetCall, TargetEvent, TargetFacts, TargetResponse, TransferPart,
    encode,
};
use runner::request::RawOptions;
use runner::run::outcome::{CommandOutcome, CommandStatus};
use runner::run::view_maker::ViewDraft;
use runner::run::{BlockedPrompt, CommandListener, LiveView, judge_distant};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::timeout;
use wire::{FrameKind, MAX_PAYLOAD, WireFrame};

use crate::support::{PROGRAM, lines, order, run, settings as honest_settings};

/// A bound against a hang.
const PATIENCE: Duration = Duration::from_secs(10);

/// Plays the program: says what our text would say and greets. Once the command arrives, says the bytes of a file, and
/// stays.
const PLAYER: &str = r#"[[ $3 =~ m=([0-9a-f]+)\"\"([0-9a-f]+) ]]; echo "${BASH_REMATCH[1]}${BASH_REMATCH[2]} run /x 0"
cat "$0.greeting"; head -c 60 >/dev/null; cat "$0"; [[ -e $0.endless ]] && cat "$0.endless" /dev/zero; exec sleep 1000"#;

struct IgnoringListener;

impl CommandListener for IgnoringListener {
    fn output(&self, _stream: OutputStream, _text: String) {}
    fn live_view(&self, _view: LiveView) {}
    fn prompt(&self, _prompt: BlockedPrompt) {}
    fn allocate(&self, _stream: OutputStream) {}
}

fn settings(file: &Path) -> TargetSettings {
    runner::supervise::use_own_program(PROGRAM.into(), remote::program::SUPERVISOR_ARGUMENT);
    let words = ["bash", "-c", PLAYER, file.to_str().expect("text")];
    TargetSettings {
        address: TargetAddress::Command { command: words.map(str::to_owned).to_vec(), quoting: TransportQuoting::Argv },
        via: None,
        id: "command:test".into(),
        cwd: None,
        lease: Duration::ZERO,
        // Silence is no answer to what is wrong.
        alive: 10 * PATIENCE,
        patience: PATIENCE,
        installed: Some("/x".into()),
        programs: vec![remote::client::TargetProgram {
            machine: "x86_64".into(),
            sha256: "0".repeat(64),
            bytes: 1,
            forms: vec![remote::client::ProgramFile {
                coding: remote::client::ProgramEncoding::Raw,
                bytes: 1,
                path: "/none".into(),
            }],
        }],
        missing: "no program here".into(),
    }
}

fn greeting() -> Vec<u8> {
    let facts = TargetFacts {
        machine: "m".into(),
        host_name: "h".into(),
        kernel: "6".into(),
        arch: "x86_64".into(),
        user: "u".into(),
        uid: 1,
        home: "/".into(),
        cwd: "/".into(),
        pid: 1,
        bash: None,
        path: "/x".into(),
        version: "0".into(),
        environment: "PATH=/bin\0".into(),
        umask: 0o22,
        lingers: None,
        load: MachineLoad::default(),
        socket: "/none".into(),
        token: ProgramToken([0; 32]),
    };
    let payload = encode(&GreetingFromProgram::Ready(Box::new(facts))).expect("text");
    bytes(&WireFrame::unnumbered(FrameKind::Greeting, payload))
}

fn bytes(frame: &WireFrame) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame.encode(&mut bytes);
    bytes
}

fn message(run: u64, number: u64, payload: Vec<u8>) -> Vec<u8> {
    bytes(&WireFrame { kind: FrameKind::Message, run, number, acked: 0, payload })
}

/// Connects to a machine that says this after its greeting, and runs a command there. Returns how the command ended.
async fn run_against(said: &[u8], endless: bool) -> DistantRunEnd {
    run_against_via(said, endless, None).await
}

/// As [`run_against`], through another machine.
async fn run_against_via(said: &[u8], endless: bool, via: Option<Arc<RemoteTarget>>) -> DistantRunEnd {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("said");
    std::fs::write(folder.path().join("said.greeting"), greeting()).expect("a file");
    std::fs::write(&file, said).expect("a file");
    if endless {
        std::fs::write(folder.path().join("said.endless"), b"").expect("a file");
    }
    let via = via.map(|via| via as Arc<dyn TransportOrigin>);
    let settings = TargetSettings { via, ..settings(&file) };
    let target =
        timeout(PATIENCE, RemoteTarget::connect(settings)).await.expect("in time").expect("a greeting of ours");
    // Only output that a listener has not taken waits here.
    let raw = RawOptions { command: "echo".into(), cwd: "/".into(), live: true, ..RawOptions::default() };
    let judged = judge_distant(raw, "test", None).expect("a harmless command");
    let (_replies, inbox) = unbounded_channel();
    let ended = match target.run(order("echo"), judged) {
        Ok(run) => timeout(PATIENCE, run.finish(IgnoringListener, inbox)).await.expect("in time"),
        Err(error) => DistantRunEnd::Failed(error),
    };
    assert_ne!(target.state(), TargetState::Disconnected);
    target.close();
    ended
}

/// Whether the command was given up: it is lost, or could not be sent any more.
fn given_up(ended: &DistantRunEnd) -> bool {
    match ended {
        DistantRunEnd::Outcome(outcome, _) => {
            let broken = |note: &String| note.contains("broke the protocol");
            outcome.status == CommandStatus::Lost && outcome.notes.iter().any(broken)
        }
        DistantRunEnd::Unreachable(error) => error.reason != TargetErrorReason::NoProgram,
        DistantRunEnd::Failed(_) => false,
    }
}

#[test]
fn what_no_program_of_ours_says_gives_the_target_up() {
    let runtime = Runtime::new().expect("a runtime");
    let output = encode(&TargetEvent::Output(OutputStream::Stdout, "x".into())).expect("text");
    let call = encode(&TargetCall::OutputTaken(5)).expect("text");
    let part =
        |number| bytes(&WireFrame { kind: FrameKind::Part, run: 1, number, acked: 0, payload: vec![0; MAX_PAYLOAD] });
    let cases: [(&str, Vec<u8>); 8] = [
        ("no frame", vec![0xff; 100]),
        ("a second greeting", greeting()),
        ("a frame out of turn", message(1, 2, output.clone())),
        (
            "an acknowledgment of nothing",
            bytes(&WireFrame { acked: 9, ..WireFrame::unnumbered(FrameKind::Beat, Vec::new()) }),
        ),
        ("no event", message(1, 1, vec![0xff; 10])),
        ("a message of a host", message(1, 1, call)),
        ("an event with more behind it", message(1, 1, [output, vec![0]].concat())),
        ("a frame for a transport", bytes(&WireFrame::unnumbered(FrameKind::Raw, Vec::new()))),
    ];
    for (what, said) in cases {
        let ended = runtime.block_on(run_against(&said, false));
        assert!(given_up(&ended), "{what}");
    }
    let huge: Vec<u8> = (1..=wire::MAX_MESSAGE as u64 / MAX_PAYLOAD as u64 + 1).flat_map(part).collect();
    assert!(given_up(&runtime.block_on(run_against(&huge, false))), "a message without end");
    let flood = encode(&TargetEvent::Output(OutputStream::Stdout, "x".repeat(64 * 1024))).expect("text");
    let flood: Vec<u8> = (1..=200).flat_map(|number| message(1, number, flood.clone())).collect();
    assert!(given_up(&runtime.block_on(run_against(&flood, false))), "more output than the credit");
    assert!(given_up(&runtime.block_on(run_against(&[], true))), "output without end");
}

#[test]
fn a_hostile_machine_behind_another_one_is_given_up_and_the_other_one_is_not() {
    let runtime = Runtime::new().expect("a runtime");
    let home = tempfile::tempdir().expect("a directory");
    runtime.block_on(async {
        let via = RemoteTarget::connect(honest_settings(home.path(), PATIENCE)).await.expect("a target");
        let flood = encode(&TargetEvent::Output(OutputStream::Stdout, "x".repeat(64 * 1024))).expect("text");
        let flood: Vec<u8> = (1..=200).flat_map(|number| message(1, number, flood.clone())).collect();
        for (said, endless) in [(vec![0xff; 100], false), (flood, false), (Vec::new(), true)] {
            let ended = run_against_via(&said, endless, Some(Arc::clone(&via))).await;
            assert!(given_up(&ended), "{} bytes", said.len());
            assert_eq!(run(&via, "seq -f 'line %g' 100", "{}").outcome().await.stdout, lines(100));
        }
        assert_eq!(via.state(), TargetState::Connected);
        via.close();
    });
}

#[test]
fn a_hostile_machine_on_the_way_to_another_one_is_given_up() {
    let runtime = Runtime::new().expect("a runtime");
    let part = |part| encode(&TargetEvent::Part(part)).expect("bytes");
    let bytes = |count| part(TransferPart::Bytes(vec![b'x'; count]));
    let carried = |said: String| {
        let answer = TargetEvent::Answered(TargetResponse::Carried(Some(255), said));
        message(1, 2, encode(&answer).expect("text"))
    };
    let all =
        |count, payload: Vec<u8>| (1..=count).flat_map(move |number| message(1, number, payload.clone())).collect();
    let ended = |said: &str| [message(1, 1, part(TransferPart::End)), carried(said.to_owned())].concat();
    let cases: [(&str, Vec<u8>); 6] = [
        ("bytes past the credit", all(100, bytes(128 * 1024))),
        ("empty parts without end", all(200_000, bytes(0))),
        ("more taken than was sent", all(100, part(TransferPart::Taken(u64::MAX)))),
        (
            "an answer of another kind",
            message(1, 1, encode(&TargetEvent::Answered(TargetResponse::Done)).expect("text")),
        ),
        ("control characters", ended("\u{1b}]0;evil\u{7}bad")),
        ("words without end", ended(&"ä".repeat(100_000))),
    ];
    for (what, said) in cases {
        let folder = tempfile::tempdir().expect("a directory");
        let file = folder.path().join("said");
        std::fs::write(folder.path().join("said.greeting"), greeting()).expect("a file");
        std::fs::write(&file, said).expect("a file");
        runtime.block_on(async {
            let via = RemoteTarget::connect(settings(&file)).await.expect("a greeting of ours");
            let behind = TargetSettings { via: Some(via), patience: Duration::from_secs(2), ..settings(&file) };
            let connected = timeout(PATIENCE, RemoteTarget::connect(behind)).await.expect("in time");
            let error = connected.err().unwrap_or_else(|| panic!("{what}: it is no target"));
            assert!(error.stderr.len() <= 4 * 1024 && !error.stderr.contains('\u{1b}'), "{what}: {error:?}");
            assert!(error.message.len() <= 8 * 1024 && !error.message.contains('\u{1b}'), "{what}: {error:?}");
        });
    }
}

#[test]
fn events_of_runs_that_are_not_there_are_passed_over() {
    let runtime = Runtime::new().expect("a runtime");
    let output = encode(&TargetEvent::Output(OutputStream::Stdout, "x".into())).expect("text");
    let failed = encode(&TargetEvent::Failed(remote::TargetFailure {
        code: "ERR_BASH_NEW".into(),
        message: "no\u{1b}[2J".into(),
        errno: None,
        missing: Vec::new(),
    }));
    let said = [message(9, 1, output), message(1, 2, failed.expect("text"))].concat();
    // A code that this version does not know is no code of ours.
    let ended = runtime.block_on(run_against(&said, false));
    let DistantRunEnd::Failed(error) = ended else { panic!("an error") };
    assert_eq!((error.code(), error.to_string().as_str()), ("ERR_BASH_SPAWN", "no[2J"));
}

/// What a test makes of an honest outcome.
type OutcomeForgery<'a> = &'a dyn Fn(&mut CommandOutcome);

/// Returns the outcome of a command that ran, as an honest program tells it.
fn outcome() -> CommandOutcome {
    let raw = RawOptions { command: "echo".into(), cwd: "/".into(), ..RawOptions::default() };
    judge_distant(raw, "test", None).expect("a harmless command").outcome
}

#[test]
fn an_outcome_that_no_program_of_ours_tells_is_none() {
    let runtime = Runtime::new().expect("a runtime");
    let survivor = || (SurvivingProcess { pid: 2, command: String::new(), holds: false }, None::<String>);
    let view = || ReducedView {
        text: String::new(),
        before: 0,
        after: 0,
        class: OutputClass::Green,
        elided: Vec::new(),
        rules: Vec::new(),
        lines: [0, 0],
    };
    let ended = |change: OutcomeForgery<'_>| {
        let mut outcome = outcome();
        change(&mut outcome);
        let said = encode(&TargetEvent::Ended(Box::new(outcome), None)).expect("text");
        let parts: Vec<_> = said.chunks(MAX_PAYLOAD).collect();
        let frame = |(at, part): (usize, &&[u8])| {
            let kind = if at + 1 == parts.len() { FrameKind::Message } else { FrameKind::Part };
            bytes(&WireFrame { kind, run: 1, number: at as u64 + 1, acked: 0, payload: part.to_vec() })
        };
        runtime.block_on(run_against(&parts.iter().enumerate().flat_map(frame).collect::<Vec<u8>>(), false))
    };
    let impossible: [(&str, OutcomeForgery<'_>); 10] = [
        ("more output than the options allow", &|o| o.stdout = "x".repeat(70_000)),
        ("a view that was not wanted", &|o| o.view = Some(ViewDraft { view: view(), whole: [None, None] })),
        ("an exit code", &|o| o.exit_code = Some(99_999)),
        ("a pid", &|o| o.pid = -1),
        ("a signal", &|o| o.signal = Some("\u{1b}]0;evil\u{7}".into())),
        ("more survivors than are listed", &|o| o.survivors = vec![survivor(); 1_001]),
        ("survivors without end", &|o| o.survivors = vec![survivor(); 1_100_000]),
        ("notes without end", &|o| o.notes = vec![String::new(); 5_000_000]),
        ("more notes than there can be", &|o| o.notes = vec![String::new(); 1_001]),
        ("the id of a task", &|o| o.survivors = vec![(survivor().0, Some("t\u{1b}[2J".into()))]),
    ];
    for (what, change) in impossible {
        assert!(given_up(&ended(change)), "{what}");
    }
    let DistantRunEnd::Outcome(told, _) = ended(&|o| {
        (o.run, o.signal, o.survivors) = ("another".into(), Some("SIGKILL".into()), vec![survivor(); 1_000]);
    }) else {
        panic!("it is possible")
    };
    assert_eq!((told.survivors.len(), told.signal.as_deref()), (1_000, Some("SIGKILL")));
    assert_ne!(told.run, "another", "run ids are given here");
}

#[test]
fn any_damage_to_a_result_is_refused_or_read_as_another_result() {
    let runtime = Runtime::new().expect("a runtime");
    let event = encode(&TargetEvent::Ended(Box::new(outcome()), None)).expect("text");
    let mut runner = TestRunner::new(Config { cases: 15, failure_persistence: None, ..Config::default() });
    let damage = (0..event.len(), proptest::num::u8::ANY);
    runner
        .run(&damage, |(at, byte)| {
            let mut damaged = event.clone();
            damaged[at] = byte;
            // Nothing but the answer counts: that there is one.
            runtime.block_on(run_against(&message(1, 1, damaged), false));
            Ok(())
        })
        .expect("no damage hangs the host");
}
