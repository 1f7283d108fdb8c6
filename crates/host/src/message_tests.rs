//! The examples of the messages, which are the contract with the page.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use ledger::{Actor, State as EndState};
use receipt::Counts;
use runner::live::{Kind, Port, State, UndoCover, Waiting, Why};

fn examples(side: &str) -> serde_json::Map<String, Value> {
    let all: Value = serde_json::from_str(include_str!("../../../__test__/host/messages.json")).expect("JSON");
    all[side].as_object().expect("examples").clone()
}

fn run() -> Run {
    Run {
        key: "c7".into(),
        run_id: "4711-1a2b-7".into(),
        kind: Kind::Command,
        command: "npm test".into(),
        cwd: "/home/joe/shop".into(),
        actor: Some(Actor {
            agent: Some("builder".into()),
            session: Some("s1".into()),
            tool_call_id: Some("call_1".into()),
            user: Some("joe".into()),
        }),
        started_at: 1_763_960_460_000,
        state: State::Waiting,
        waiting: Some(Waiting::new(Why::Prompt, "Continue? [y/N]")),
        last_line: "Continue? [y/N]".into(),
        cpu_ms: 1250,
        memory: 73_400_320,
        pid: Some(4720),
        task_id: None,
        ports: vec![Port { port: 3000, address: "127.0.0.1".into() }],
        undo: true,
        stdin: true,
    }
}

fn ask() -> Ask {
    Ask {
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

fn change() -> Change {
    let task = Run {
        key: "t0123456789ab".into(),
        run_id: "4711-1a2b-8".into(),
        kind: Kind::Task,
        command: "npm run dev".into(),
        actor: None,
        started_at: 1_763_960_470_000,
        state: State::Running,
        waiting: None,
        last_line: "ready in 310 ms".into(),
        cpu_ms: 40,
        memory: 1_048_576,
        pid: Some(4731),
        task_id: Some("t0123456789ab".into()),
        ports: Vec::new(),
        undo: false,
        stdin: false,
        ..run()
    };
    let ended = Ended {
        key: "c7".into(),
        state: EndState::Exited,
        exit_code: Some(1),
        signal: None,
        ended_at: 1_763_960_475_000,
        receipt: Some(Counts { created: 2, modified: 1, deleted: 0, renamed: 0 }),
    };
    Change { runs: vec![Arc::new(task)], ended: vec![ended], asks: Vec::new(), answered: vec!["a1".into()] }
}

#[test]
fn each_message_of_a_host_is_its_example() {
    let greeting = Greeting {
        protocol: PROTOCOL,
        pid: 4711,
        program: "node agent.js".into(),
        cwd: "/home/joe/shop".into(),
        started_at: 1_763_960_400_000,
        version: "0.1.0",
    };
    let closing = Failure::new(Code::Protocol, "this host speaks version 1 of the protocol, and not version 9");
    let gone = Failure::new(Code::Gone, "there is no run c7; it may have ended");
    let output = Output { run: "c7".into(), at: 2048, text: "\x1b[32mok\x1b[0m 12 tests\n".into(), gap: 0, end: false };
    let screen = Screen {
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
        ("hello", Message::Hello(greeting)),
        ("closing", Message::Error(closing)),
        ("done", Message::Reply(Reply::of(1, Ok(())))),
        ("failed", Message::Reply(Reply::of(5, Err(gone)))),
        ("state", Message::State { runs: vec![Arc::new(run())], asks: vec![Arc::new(ask())] }),
        ("change", Message::Change(change())),
        ("output", Message::Output(output)),
        ("screen", Message::Screen(screen)),
    ] {
        let line = message.line();
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1, "{name}");
        let sent: Value = serde_json::from_slice(&line).expect("JSON");
        assert_eq!(Some(sent), examples.remove(name), "{name}");
    }
    assert!(examples.is_empty(), "{examples:?}");
}

#[test]
fn each_example_of_a_client_is_understood() {
    let mut examples = examples("fromClient");
    let mut take = |name: &str| serde_json::to_vec(&examples.remove(name).expect(name)).expect("JSON");
    for (name, control) in [("hello", false), ("helloWithControl", true)] {
        let hello: Hello = serde_json::from_slice(&take(name)).expect(name);
        assert_eq!(hello, Hello { hello: PROTOCOL, control }, "{name}");
    }
    let run = || "c7".to_owned();
    let reason = Some("Use a branch instead.".to_owned());
    for (name, id, expected) in [
        ("watch", 1, Request::Watch),
        ("follow", 2, Request::Follow { run: run() }),
        ("unfollow", 3, Request::Unfollow { run: run() }),
        ("input", 4, Request::Input { run: run(), text: "y\n".into() }),
        ("stop", 5, Request::Stop { run: run() }),
        ("answer", 6, Request::Answer { ask: "a1".into(), approved: false, reason }),
        ("answerWithoutReason", 7, Request::Answer { ask: "a1".into(), approved: true, reason: None }),
    ] {
        let needs_control = matches!(expected, Request::Input { .. } | Request::Stop { .. } | Request::Answer { .. });
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
        assert_eq!((id, failure.code), (number, Code::Invalid), "{line}");
    }
}

#[test]
fn an_array_is_no_hello() {
    assert!(read_object::<Hello>(b"[1]").is_err());
    assert!(read_object::<Hello>(b" {\"hello\":1,\"more\":[[]]}").is_ok());
}

proptest! {
    #[test]
    fn no_line_makes_the_reader_fail(line in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_request(&line);
        let _ = read_object::<Hello>(&line);
    }

    #[test]
    fn a_text_of_the_longest_kind_fits_into_a_line(text in "(\\x1b\\[m|[\"\\\\\t\n]|é){0,200}") {
        let text = text.repeat(crate::client::TEXT / text.len().max(1));
        let output = Output { run: "c18446744073709551615".into(), at: u64::MAX, text, gap: u64::MAX, end: false };
        prop_assert!(Message::Output(output).line().len() <= HOST_LINE);
    }
}
