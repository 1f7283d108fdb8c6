//! People who watch: their orders, and what they see.

use super::*;
use crate::live::{LiveRunState, RunWait, RunWaitReason, WatcherInputError, WatcherQueue};
use crate::request::CallerStreamOptions;
use crate::run::live_registration::STOPPED;
use protocol::BlockedOn;

/// Lets the loop handle everything that has come.
async fn settle() {
    sleep(Duration::from_millis(5)).await;
}

/// Returns everything that a tap holds, and the number of bytes before it.
fn taken(tap: &WatcherQueue) -> (u64, String) {
    let chunks = std::iter::from_fn(|| tap.take(usize::MAX));
    let text = chunks.map(|chunk| String::from_utf8(chunk.bytes).expect("text")).collect();
    (tap.take_bytes_before_watching(), text)
}

#[tokio::test(start_paused = true)]
async fn a_person_stops_the_whole_tree_and_a_note_says_so() {
    let (driven, ends) = drive(raw(), async |ends| {
        ends.start();
        settle().await;
        ends.run().stop();
        ends.run().stop();
        settle().await;
        ends.close();
        ends.exit(TerminationCause::Abort, false);
    })
    .await;
    assert_eq!(ends.asked(), ["terminate"]);
    assert_eq!(driven.notes, [STOPPED]);
}

#[tokio::test(start_paused = true)]
async fn a_person_stops_what_the_shell_has_left() {
    let (driven, ends) = drive(raw(), async |ends| {
        ends.start();
        ends.exit(TerminationCause::Itself, true);
        settle().await;
        ends.run().stop();
    })
    .await;
    assert_eq!(ends.asked(), ["terminate"]);
    assert_eq!(driven.notes, [STOPPED]);
}

#[tokio::test(start_paused = true)]
async fn a_command_that_has_ended_is_not_stopped_any_more() {
    let (driven, ends) = drive(RawOptions { live: true, ..raw() }, async |ends| {
        ends.start();
        ends.write("x\n");
        settle().await;
        ends.close();
        ends.exit(TerminationCause::Itself, false);
        settle().await;
        ends.run().stop();
        sleep(Duration::from_secs(3_600)).await;
        ends.reply(CallerReply::OutputTaken(None));
    })
    .await;
    assert!(ends.asked().is_empty() && driven.notes.is_empty(), "{:?} {:?}", ends.asked(), driven.notes);
    assert_took(driven.delivered, 3_600_010);
}

#[tokio::test(start_paused = true)]
async fn input_of_a_person_reaches_a_command_that_is_fed() {
    let streams = Some(CallerStreamOptions { bytes: false, fed: true });
    let (_, ends) = drive(RawOptions { streams, ..raw() }, async |ends| {
        ends.start();
        settle().await;
        assert!(ends.run().describe(None).stdin);
        assert_eq!(ends.run().give_input("yes\n"), Ok(()));
        settle().await;
        assert_eq!(ends.read_input(), b"yes\n");
        ends.exit(TerminationCause::Itself, false);
        ends.close();
    })
    .await;
    assert!(!ends.heard().iter().any(|event| event.starts_with("input")), "the caller has given none");
}

#[tokio::test(start_paused = true)]
async fn a_command_without_a_standard_input_of_its_own_takes_none() {
    drive(RawOptions { stdin: Some(b"given".to_vec()), ..raw() }, async |ends| {
        ends.start();
        settle().await;
        assert_eq!(ends.run().give_input("yes\n"), Err(WatcherInputError::ReadsNoInput));
        assert_eq!(ends.read_input(), b"given");
        ends.exit(TerminationCause::Itself, false);
        ends.close();
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_follower_gets_what_is_held_and_then_all_output() {
    let tap = WatcherQueue::new(Arc::default());
    let follower = Arc::clone(&tap);
    drive(raw(), async move |ends| {
        ends.start();
        ends.write("one\ntw");
        settle().await;
        assert!(!ends.run().takes_output());
        ends.run().follow(Arc::clone(&follower));
        settle().await;
        assert_eq!(taken(&follower), (0, "one\ntw".into()));
        ends.write("o\n\x1b[31mred\x1b[0m\n");
        settle().await;
        assert_eq!(taken(&follower), (0, "o\n\x1b[31mred\x1b[0m\n".into()), "as it was written");
        ends.run().unfollow(&follower);
        ends.write("three\n");
        ends.exit(TerminationCause::Itself, false);
        ends.close();
    })
    .await;
    assert_eq!(taken(&tap), (0, String::new()));
}

#[tokio::test(start_paused = true)]
async fn a_follower_that_comes_late_is_told_how_much_it_has_missed() {
    let tap = WatcherQueue::new(Arc::default());
    let follower = Arc::clone(&tap);
    drive(raw(), async move |ends| {
        ends.start();
        ends.flood().await;
        ends.write("end\n");
        settle().await;
        ends.run().follow(follower);
        settle().await;
        ends.exit(TerminationCause::Itself, false);
        ends.close();
    })
    .await;
    let (before, text) = taken(&tap);
    assert!(before > 0 && text.ends_with("xend\n"));
    assert_eq!(before + text.len() as u64, 4 * 60_000 + 4);
    assert!(tap.is_over());
}

#[tokio::test(start_paused = true)]
async fn a_follower_of_bytes_gets_bytes() {
    let tap = WatcherQueue::new(Arc::default());
    let follower = Arc::clone(&tap);
    let streams = Some(CallerStreamOptions { bytes: true, fed: false });
    drive(RawOptions { streams, sanitize: None, ..raw() }, async move |ends| {
        ends.start();
        ends.write("é\n");
        settle().await;
        ends.run().follow(follower);
        settle().await;
        ends.exit(TerminationCause::Itself, false);
        ends.close();
    })
    .await;
    assert_eq!(taken(&tap), (0, "é\n".into()));
}

#[tokio::test(start_paused = true)]
async fn a_look_shows_the_last_line_of_the_stream_that_wrote_last() {
    drive(RawOptions { merge: false, ..raw() }, async |ends| {
        let last = async |ends: &DriverTestPeers| {
            settle().await;
            ends.run().request_status();
            settle().await;
            ends.run().describe(None).last_line
        };
        ends.start();
        assert_eq!(last(ends).await, "");
        ends.write("compiling\n\n");
        assert_eq!(last(ends).await, "compiling");
        ends.write_to(OutputStream::Stderr, "10%\r20%");
        assert_eq!(last(ends).await, "20%");
        ends.write_to(OutputStream::Stdout, "linking");
        assert_eq!(last(ends).await, "linking");
        ends.exit(TerminationCause::Itself, false);
        ends.close();
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn while_a_person_looks_a_command_is_scanned_and_its_question_shown() {
    let (driven, ends) = drive(raw(), async |ends| {
        ends.start();
        ends.write("Password: ");
        settle().await;
        sleep(Duration::from_secs(10)).await;
        assert!(ends.asked().is_empty(), "nobody looks");
        ends.run().request_status();
        settle().await;
        assert_eq!(ends.asked(), ["scan"]);
        assert_eq!(ends.run().describe(None).state, LiveRunState::Running);
        let reads =
            BlockedProcess { pid: 9, command: "sudo".into(), on: BlockedOn::Terminal(0), others: 0, sure: true };
        ends.send(ShimEvent::Blocked(false, Some(reads)));
        settle().await;
        let shape = ends.run().describe(None);
        assert_eq!(
            (shape.state, shape.waiting),
            (LiveRunState::Waiting, Some(RunWait::new(RunWaitReason::Prompt, "Password:")))
        );
        ends.write("\nthanks\n");
        settle().await;
        ends.run().request_status();
        settle().await;
        assert_eq!(ends.run().describe(None).waiting, None, "it goes on");
        sleep(Duration::from_secs(10)).await;
        assert_eq!(ends.asked().len(), 2, "one more scan, and none once nobody looks: {:?}", ends.asked());
        ends.exit(TerminationCause::Itself, false);
        ends.close();
    })
    .await;
    assert!(driven.notes.is_empty() && !ends.heard().iter().any(|event| event.starts_with("prompt")));
}

#[tokio::test(start_paused = true)]
async fn a_scan_for_people_is_no_report_for_the_listener() {
    let (_, ends) = drive(RawOptions { prompts: true, ..raw() }, async |ends| {
        ends.start();
        ends.write("Password: ");
        settle().await;
        ends.run().request_status();
        settle().await;
        ends.send(ShimEvent::Blocked(false, None));
        settle().await;
        assert!(ends.run().describe(None).waiting.is_some());
        assert_eq!(ends.heard(), Vec::<String>::new(), "its pause is not over");
        sleep(Duration::from_millis(300)).await;
        ends.send(ShimEvent::Blocked(false, None));
        settle().await;
        ends.exit(TerminationCause::Itself, false);
        ends.close();
    })
    .await;
    assert_eq!(ends.heard(), ["prompt: Password: "]);
}

#[tokio::test(start_paused = true)]
async fn the_pid_is_known_from_the_start_on() {
    drive(raw(), async |ends| {
        settle().await;
        assert_eq!(ends.run().pid(), None);
        ends.start();
        settle().await;
        assert_eq!(ends.run().pid(), Some(7));
        ends.exit(TerminationCause::Itself, false);
        ends.close();
    })
    .await;
}
