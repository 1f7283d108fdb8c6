use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tokio::runtime::Builder;

use super::*;
use crate::client::scripted_target::scripted_target;
use crate::client::target_run_updates::PROTOCOL_BROKEN;
use crate::messages::{TargetEvent, TargetFileKind, encode};

/// Returns what becomes of the first question if these are the events of its run. `None`: it waits for more.
fn after<F: Future>(
    ask: impl FnOnce(&Arc<RemoteTarget>) -> F,
    events: impl IntoIterator<Item = TargetEvent>,
) -> Option<F::Output> {
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    let _inside = runtime.enter();
    let target = scripted_target();
    let mut asked = pin!(ask(&target));
    for event in events {
        target.on_message(1, &encode(&event).expect("text")).expect("little");
        if let Poll::Ready(answer) = asked.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return Some(answer);
        }
    }
    None
}

fn part(bytes: Vec<u8>) -> TargetEvent {
    TargetEvent::Part(TransferPart::Bytes(bytes))
}

fn entries(names: &[&str]) -> TargetEvent {
    let entry = |name: &&str| TargetDirectoryEntry { name: (*name).to_owned(), kind: TargetFileKind::File };
    part(encode(&names.iter().map(entry).collect::<Vec<_>>()).expect("text"))
}

fn answered(about: TargetFileResponse) -> TargetEvent {
    TargetEvent::Answered(TargetResponse::File(about))
}

#[test]
fn what_a_program_of_ours_never_sends_ends_the_question_and_fills_nothing() {
    let read =
        |events: Vec<TargetEvent>| after(|target| target.read_file("x"), events).map(|answer| answer.map(|_| ()));
    let list = |events: Vec<TargetEvent>| after(|target| target.list("x"), events).map(|answer| answer.map(|_| ()));
    let stat = |events: Vec<TargetEvent>| after(|target| target.stat("x"), events).map(|answer| answer.map(|_| ()));
    let lines = || RecallSelection::Lines(1, 2);
    let recall = |events: Vec<TargetEvent>| {
        after(|target| target.recall("x", true, lines()), events).map(|answer| answer.map(|_| ()))
    };
    let remove = |events| after(|target| target.remove("x", true), events).map(|answer| answer.map(|_| ()));
    let write = |events| after(|target| target.write_file("x", vec![1], None), events);
    let endless = || std::iter::repeat_with(|| part(vec![0; CHUNK])).take(MAX_READ / CHUNK + 1).collect::<Vec<_>>();
    let name = || "n".repeat(60_000);
    let names = || std::iter::repeat_with(|| entries(&[&name(), &name()])).take(MAX_READ / 120_000 + 1).collect();
    let many = || std::iter::repeat_with(|| entries(&["n"; 40_000])).take(MAX_ENTRIES / 40_000 + 1).collect();
    for (what, answer) in [
        ("an endless file", read(endless())),
        ("a long chunk", read(vec![part(vec![0; CHUNK + 1])])),
        ("an empty chunk", read(vec![part(Vec::new())])),
        ("an end", read(vec![TargetEvent::Part(TransferPart::End)])),
        ("another answer", read(vec![TargetEvent::Answered(TargetResponse::Done)])),
        ("an answer about another thing", read(vec![answered(TargetFileResponse::Stat(stat_of()))])),
        ("no list", list(vec![part(vec![255; 9])])),
        ("a name that leads out", list(vec![entries(&["a", "../b"])])),
        ("the directory itself", list(vec![entries(&["."])])),
        ("a long list", list(names())),
        ("a list of many", list(many())),
        ("bytes of nothing", stat(vec![part(vec![1])])),
        ("more lines than were asked for", recall(vec![part(vec![b'x'; LARGEST + 1])])),
        ("lines that are no text", recall(vec![part(vec![255]), answered(TargetFileResponse::Done)])),
        ("no facts", stat(vec![answered(TargetFileResponse::Done)])),
        ("bytes for a removal", remove(vec![part(vec![1])])),
        ("bytes for a write", write(vec![part(vec![1])])),
        ("a write of nothing", write(vec![answered(TargetFileResponse::Missing)])),
    ] {
        assert!(matches!(answer, Some(Err(UnansweredRequest::Lost(PROTOCOL_BROKEN)))), "{what}: {answer:?}");
    }
}

fn stat_of() -> FileStat {
    FileStat { kind: TargetFileKind::File, bytes: 0, mode: 0, modified_ms: 0 }
}

#[test]
fn the_longest_file_and_the_last_list_are_taken() {
    let whole = (0..MAX_READ / CHUNK).map(|_| part(vec![7; CHUNK])).chain([answered(TargetFileResponse::Done)]);
    let read = after(|target| target.read_file("x"), whole);
    assert!(matches!(read, Some(Ok(Some(bytes))) if bytes.len() == MAX_READ));
    let listed =
        after(|target| target.list("x"), [entries(&["a"]), entries(&["b"]), answered(TargetFileResponse::Done)]);
    assert!(matches!(listed, Some(Ok(Some(all))) if all.len() == 2 && all[1].name == "b"));
}

#[test]
fn recalled_lines_are_cleaned_again() {
    let said = [part(b"\x1b[31mred\n".to_vec()), answered(TargetFileResponse::Done)];
    let lines = after(|target| target.recall("x", false, RecallSelection::Lines(1, 1)), said);
    assert!(matches!(&lines, Some(Ok(Some(text))) if text == "[31mred\n"), "{lines:?}");
}

#[test]
fn an_error_of_the_system_there_is_the_code_and_no_other_word_is() {
    for (said, expected) in [("EACCES", "EACCES"), ("EVIL", "ERR_BASH_SPAWN"), ("ERR_BASH_CLOSED", "ERR_BASH_CLOSED")] {
        let failure = crate::messages::TargetFailure {
            code: said.to_owned(),
            message: "x".to_owned(),
            errno: None,
            missing: Vec::new(),
        };
        let answer = after(|target| target.stat("x"), [TargetEvent::Failed(failure)]);
        assert!(
            matches!(&answer, Some(Err(UnansweredRequest::Failed(error))) if error.code() == expected),
            "{answer:?}"
        );
    }
}
