//! The examples of the messages, which are the contract with the page.

use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use confine_policy::{CommandDenials, CountedSecretUse, DenialKind, SuggestedGrant};
use ledger::{Actor, LedgerRunState as EndState};
use protocol::EndedBy;
use receipt::recording::RunUndoCoverage;
use receipt::{ChangeAttribution, GitState, ReceiptCompleteness, ReceiptCounts, RunReceipt};
use runner::live::{
    LiveRunState, PlaceReport, PoolReport, RunChanges, RunDenials, RunEnding, RunKind, RunResourceUsage, RunWait,
    RunWaitReason, ServedPort, UndoCover,
};

fn examples(side: &str) -> serde_json::Map<String, Value> {
    let all: Value = serde_json::from_str(include_str!("../../../__test__/host/messages.json")).expect("JSON");
    all[side].as_object().expect("examples").clone()
}

fn run() -> RunDescription {
    RunDescription {
        key: "c7".into(),
        run_id: "4711-1a2b-7".into(),
        kind: RunKind::Command,
        command: "npm test".into(),
        cwd: "/home/joe/shop".into(),
        target: Some("ssh:joe@build-3".into()),
        actor: Some(Actor {
            agent: Some("builder".into()),
            session: Some("s1".into()),
            tool_call_id: Some("call_1".into()),
            user: Some("joe".into()),
        }),
        started_at: 1_763_960_460_000,
        state: LiveRunState::Waiting,
        waiting: Some(RunWait::new(RunWaitReason::Prompt, "Continue? [y/N]")),
        last_line: "Continue? [y/N]".into(),
        limit_ms: Some(120_000),
        idle_ms: Some(30_000),
        confinement: Some("workspace"),
        size: Some([80, 24]),
        processes: Some(5),
        cpu_ms: Some(1250),
        memory: Some(73_400_320),
        pid: Some(4720),
        task_id: None,
        ports: vec![ServedPort { port: 3000, address: "127.0.0.1".into() }],
        undo: true,
        stdin: true,
    }
}

fn ask() -> ApprovalRequest {
    ApprovalRequest {
        key: "a1".into(),
        command: "git push --force".into(),
        cwd: "/home/joe/shop".into(),
        actor: None,
        verdict: "ask".into(),
        rules: vec!["git-force-push".into()],
        reasons: vec!["it replaces the history of the remote branch".into()],
        undo: Some(UndoCover::None),
        asked_at: 1_763_960_465_000,
    }
}

fn change() -> StateChange {
    let task = RunDescription {
        key: "t0123456789ab".into(),
        run_id: "4711-1a2b-8".into(),
        kind: RunKind::Task,
        command: "npm run dev".into(),
        target: None,
        actor: None,
        started_at: 1_763_960_470_000,
        state: LiveRunState::Running,
        waiting: None,
        last_line: "ready in 310 ms".into(),
        limit_ms: Some(86_400_000),
        idle_ms: None,
        confinement: None,
        size: None,
        processes: None,
        cpu_ms: Some(40),
        memory: Some(1_048_576),
        pid: Some(4731),
        task_id: Some("t0123456789ab".into()),
        ports: Vec::new(),
        undo: false,
        stdin: false,
        ..run()
    };
    let ended_at = 1_763_960_475_000;
    let ends = [("c7", ending()), ("c8", RunEnding::with_state_only(EndState::Refused))];
    let ended = ends.map(|(key, end)| Arc::new(RunEndReport { key: key.into(), ended_at, end })).into();
    let (answered, pools_gone) = (vec!["a1".into()], vec!["p2".into()]);
    StateChange { runs: vec![Arc::new(task)], ended, asks: Vec::new(), answered, pools: vec![pool()], pools_gone }
}

fn pool() -> Arc<PoolDescription> {
    let busy = PlaceReport {
        id: "ssh:joe@build-3".into(),
        state: "connected".into(),
        running: 4,
        queued: 2,
        load: 1.25,
        memory_free: 2_147_483_648,
        broken_until: None,
    };
    let broken = PlaceReport {
        id: "ssh:joe@build-4".into(),
        state: "new".into(),
        broken_until: Some(1_763_960_480_000),
        ..PlaceReport::default()
    };
    let report = PoolReport { per_target: 4, waiting: 2, places: vec![busy, broken], count: 2 };
    Arc::new(PoolDescription { key: "p1".into(), reported_at: 1_763_960_474_000, report })
}

fn ending() -> RunEnding {
    RunEnding {
        exit_code: Some(124),
        signal: Some("SIGTERM".into()),
        cause: Some(EndedBy::Timeout),
        limit_ms: Some(120_000),
        duration_ms: Some(120_001.5),
        usage: Some(RunResourceUsage { user_ms: 1250.25, system_ms: 80.0, max_rss_bytes: 73_400_320 }),
        output_path: Some("/tmp/agent-bash/4711-1a2b-7.stdout.log".into()),
        task_id: Some("t0123456789ab".into()),
        denied: RunDenials::from(&denials()),
        changed: RunChanges::from_receipt(Some(&receipt()), Some(&coverage())),
        ..RunEnding::with_state_only(EndState::TimedOut)
    }
}

fn denials() -> CommandDenials {
    let mut denials = CommandDenials::default();
    for _ in 0..2 {
        denials.add(DenialKind::Write, "/etc/hosts", "tee", Some(SuggestedGrant::Write("/etc/hosts".into())));
    }
    let host = "registry.example:443";
    denials.add(DenialKind::Network, host, "npm", Some(SuggestedGrant::Host(host.into())));
    denials.add(DenialKind::Network, "127.0.0.1:3000", "curl", Some(SuggestedGrant::Expose(3000)));
    denials.add(DenialKind::Syscall, "mount", "mount", None);
    denials.secrets.add(use_of("/package"));
    denials
}

fn use_of(path: &str) -> CountedSecretUse {
    CountedSecretUse {
        name: "NPM_TOKEN".into(),
        host: "registry.example".into(),
        method: "PUT".into(),
        path: path.into(),
        count: 1,
        status: Some(201),
        refused: None,
    }
}

fn receipt() -> RunReceipt {
    let at = |name: &str| PathBuf::from("/home/joe/shop").join(name);
    let change = |name, bytes, bytes_before, kind| receipt::FileChange { path: at(name), bytes, bytes_before, kind };
    let mut receipt = RunReceipt::new(ChangeAttribution::Command);
    let why = "processes that the command left running may go on changing files: 4722 (npm run dev)";
    receipt.lower(ReceiptCompleteness::Partial, why);
    receipt.created = vec![change("dist", None, None, receipt::ChangedFileKind::Directory)];
    receipt.modified = vec![change("a.js", Some(120), Some(80), receipt::ChangedFileKind::File)];
    receipt.deleted = vec![change("b.js", None, Some(7), receipt::ChangedFileKind::File)];
    receipt.renamed = vec![receipt::FileRename { from: at("c.js"), to: at("d.js") }];
    receipt.counts = ReceiptCounts { created: 1, modified: 1, deleted: 1, renamed: 1 };
    receipt.directories = vec![at("node_modules")];
    receipt.git = vec![receipt::RepositoryChange {
        repository: "/home/joe/shop".into(),
        head: [Some("1a2b3c4".into()), Some("1a2b3c4".into())],
        branch: [Some("main".into()), Some("main".into())],
        index: true,
        stash: false,
        state: Some(GitState::Merge),
    }];
    receipt
}

fn coverage() -> RunUndoCoverage {
    RunUndoCoverage { all: false, not_covered: vec!["a push".into()], bytes: 4096 }
}

/// Makes numbers equal that only differ in their form: JavaScript knows one kind.
fn in_floats(value: &mut Value) {
    match value {
        Value::Number(number) => *value = number.as_f64().into(),
        Value::Array(list) => list.iter_mut().for_each(in_floats),
        Value::Object(map) => map.values_mut().for_each(in_floats),
        _ => {}
    }
}

#[test]
fn each_message_of_a_host_is_its_example() {
    let greeting = HostGreeting {
        protocol: PROTOCOL,
        pid: 4711,
        program: "node agent.js".into(),
        cwd: "/home/joe/shop".into(),
        started_at: 1_763_960_400_000,
        version: "0.1.0",
    };
    let closing =
        RequestFailure::new(FailureCode::Protocol, "this host speaks version 1 of the protocol, and not version 9");
    let gone = RequestFailure::new(FailureCode::Gone, "there is no run c7; it may have ended");
    let output = RunOutputMessage {
        run: "c7".into(),
        at: 2048,
        text: "\x1b[32mok\x1b[0m 12 tests\n".into(),
        gap: 0,
        end: false,
    };
    let screen = ScreenMessage {
        run: "c9".into(),
        rows: 3,
        columns: 20,
        lines: vec!["\x1b[1mName:\x1b[0m joe".into(), String::new(), String::new()],
        cursor: [0, 9],
        title: "setup".into(),
        end: false,
    };
    let mut examples = examples("fromHost");
    for (name, message) in [
        ("hello", HostMessage::Hello(greeting)),
        ("closing", HostMessage::Error(closing)),
        ("done", HostMessage::Reply(RequestReply::of(1, Ok(())))),
        ("failed", HostMessage::Reply(RequestReply::of(5, Err(gone)))),
        ("state", HostMessage::State { runs: vec![Arc::new(run())], asks: vec![Arc::new(ask())], pools: vec![pool()] }),
        ("change", HostMessage::Change(change())),
        ("output", HostMessage::Output(output)),
        ("screen", HostMessage::Screen(screen)),
    ] {
        let line = message.to_line();
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1, "{name}");
        let mut sent: Value = serde_json::from_slice(&line).expect("JSON");
        let mut example = examples.remove(name).expect(name);
        [&mut sent, &mut example].into_iter().for_each(in_floats);
        assert_eq!(sent, example, "{name}");
    }
    assert!(examples.is_empty(), "{examples:?}");
}

#[test]
fn the_largest_end_fits_into_a_line() {
    let text = |at: usize| format!("/{at}{}", "\u{1}".repeat(200));
    let mut denials = CommandDenials::default();
    let mut receipt = receipt();
    for at in 0..99 {
        denials.add(DenialKind::Write, &text(at), "tee", Some(SuggestedGrant::Write(text(at))));
        denials.secrets.add(use_of(&text(at)));
        let change = receipt::FileChange { path: text(at).into(), ..receipt.created[0].clone() };
        receipt.created.push(change.clone());
        receipt.modified.push(change.clone());
        receipt.deleted.push(change);
        receipt.renamed.push(receipt::FileRename { from: text(at).into(), to: text(at).into() });
        receipt.directories.push(text(at).into());
        receipt.git.push(receipt::RepositoryChange { repository: text(at).into(), ..receipt.git[0].clone() });
    }
    receipt.why = Some(text(0));
    let undo = RunUndoCoverage { not_covered: (0..99).map(text).collect(), ..coverage() };
    let end = RunEnding {
        output_path: Some("\u{1}".repeat(4_095)),
        denied: RunDenials::from(&denials),
        changed: RunChanges::from_receipt(Some(&receipt), Some(&undo)),
        ..ending()
    };
    let ended = vec![Arc::new(RunEndReport { key: "c18446744073709551615".into(), ended_at: u64::MAX, end })];
    let line = HostMessage::Change(StateChange { ended, ..StateChange::default() }).to_line();
    assert!(line.len() <= HOST_LINE, "{}", line.len());
    assert!(line.len() > HOST_LINE / 2, "{}", line.len());
}

#[test]
fn each_example_of_a_client_is_understood() {
    let mut examples = examples("fromClient");
    let mut take = |name: &str| serde_json::to_vec(&examples.remove(name).expect(name)).expect("JSON");
    for (name, control) in [("hello", false), ("helloWithControl", true)] {
        let hello: HelloLine = serde_json::from_slice(&take(name)).expect(name);
        assert_eq!(hello, HelloLine { hello: PROTOCOL, control }, "{name}");
    }
    let run = || "c7".to_owned();
    let reason = Some("Use a branch instead.".to_owned());
    for (name, id, expected) in [
        ("watch", 1, HostRequest::Watch),
        ("follow", 2, HostRequest::Follow { run: run() }),
        ("unfollow", 3, HostRequest::Unfollow { run: run() }),
        ("input", 4, HostRequest::Input { run: run(), text: "y\n".into() }),
        ("stop", 5, HostRequest::Stop { run: run() }),
        ("answer", 6, HostRequest::Answer { ask: "a1".into(), approved: false, reason }),
        ("answerWithoutReason", 7, HostRequest::Answer { ask: "a1".into(), approved: true, reason: None }),
    ] {
        let needs_control =
            matches!(expected, HostRequest::Input { .. } | HostRequest::Stop { .. } | HostRequest::Answer { .. });
        assert_eq!(expected.needs_control(), needs_control, "{name}");
        assert_eq!(read_request(&take(name)), Ok((id, expected)), "{name}");
    }
    assert!(examples.is_empty(), "{examples:?}");
}

#[test]
fn a_request_that_is_none_is_answered_by_its_number_if_it_has_one() {
    for (line, number) in [
        ("", None),
        ("{}", None),
        ("[1]", None),
        ("[1,\"watch\"]", None),
        ("{\"id\":-1,\"do\":\"watch\"}", None),
        ("{\"id\":1}", Some(1)),
        ("{\"id\":2,\"do\":\"dance\"}", Some(2)),
        ("{\"id\":3,\"do\":\"follow\"}", Some(3)),
        ("{\"id\":4,\"do\":\"follow\",\"run\":7}", Some(4)),
        ("{\"id\":5,\"do\":\"answer\",\"ask\":\"a1\",\"approved\":\"yes\"}", Some(5)),
    ] {
        let (id, failure) = read_request(line.as_bytes()).expect_err(line);
        assert_eq!((id, failure.code), (number, FailureCode::Invalid), "{line}");
    }
}

#[test]
fn an_array_is_no_hello() {
    assert!(read_object::<HelloLine>(b"[1]").is_err());
    assert!(read_object::<HelloLine>(b" {\"hello\":1,\"more\":[[]]}").is_ok());
}

proptest! {
    #[test]
    fn no_line_makes_the_reader_fail(line in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_request(&line);
        let _ = read_object::<HelloLine>(&line);
    }

    #[test]
    fn a_text_of_the_longest_kind_fits_into_a_line(text in "(\\x1b\\[m|[\"\\\\\t\n]|é){0,200}") {
        let text = text.repeat(crate::host_client::TEXT / text.len().max(1));
        let output = RunOutputMessage { run: "c18446744073709551615".into(), at: u64::MAX, text, gap: u64::MAX, end: false };
        prop_assert!(HostMessage::Output(output).to_line().len() <= HOST_LINE);
    }
}
