use super::*;
use capture::OutputStream;
use runner::run::judge_distant;
use wire::{Mailbox, WireFrameReader};

/// Returns the messages that wait.
async fn waiting(post: &LinkMailbox) -> Vec<MailboxMessage> {
    let (mut frames, mut other, mut messages) = (WireFrameReader::default(), Mailbox::default(), Vec::new());
    let last = post.waiting_bytes();
    let mut read = 0;
    while read < last {
        let mut bytes = Vec::new();
        post.fill(&mut bytes).await;
        read += bytes.len();
        frames.push(&bytes);
        while let Some(frame) = frames.next_frame().expect("frames of ours") {
            messages.extend(other.receive(frame).expect("the next frame"));
        }
    }
    messages
}

#[tokio::test]
async fn the_end_of_a_command_is_told_when_too_much_waits_for_its_result() {
    let post = Arc::new(LinkMailbox::default());
    let runs = ProgramRuns::new(Arc::clone(&post), 0o22);
    let output = TargetEvent::Output(OutputStream::Stdout, "x".repeat(60 << 20));
    while post.send(9, &output).is_ok() {}
    let raw = RawOptions { command: "echo".into(), cwd: "/".into(), ..RawOptions::default() };
    let outcome = judge_distant(raw, "test", None).expect("a harmless command").outcome;
    let outcome = CommandOutcome { stdout: "x".repeat(60 << 20), exit_code: Some(3), ..outcome };
    let last = runs.add(1, RunRoute::Question(unbounded_channel().0)).expect("room");
    last.set_event(TargetEvent::Ended(Box::new(outcome), Some("/usr".into())));
    let last = waiting(&post).await.pop().expect("a message");
    let TargetEvent::Ended(outcome, cwd) = decode(&last.payload).expect("an event") else { panic!("it has ended") };
    assert_eq!((last.run, outcome.exit_code, cwd.as_deref()), (1, Some(3), Some("/usr")));
    assert!(outcome.stdout.is_empty() && outcome.notes[0].contains("could not be sent"), "{:?}", outcome.notes);
}

#[test]
fn a_host_that_starts_more_runs_than_one_of_ours_is_found_out() {
    let runs = ProgramRuns::new(Arc::default(), 0o22);
    let added = (0..).map(|run| runs.add(run, RunRoute::Question(unbounded_channel().0)));
    let added: Vec<LastEventGuard> = added.map_while(Result::ok).collect();
    assert_eq!(added.len(), MAX_RUNS + MAX_STANDING);
}
