//! The events for the listener, and how far it holds the command back.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_busy_listener_holds_the_command_back_and_delays_its_result() {
    let (driven, ends) = drive(RawOptions { live: true, ..raw() }, async |ends| {
        ends.start();
        for _ in 0..3 {
            ends.write(&"x".repeat(60_000));
            sleep(Duration::from_millis(1)).await;
        }
        sleep(Duration::from_secs(1)).await;
        assert_eq!(ends.heard(), ["stdout: 60000"], "one batch until it is taken");
        ends.stdout = None;
        ends.exit(TerminationCause::Itself, false);
        for _ in 0..3 {
            sleep(Duration::from_secs(3_600)).await;
            ends.reply(CallerReply::OutputTaken(None));
        }
    })
    .await;
    let heard: usize = ends.heard().iter().map(|line| line[8..].parse::<usize>().expect("a length")).sum();
    assert_eq!(heard, 180_000, "everything, before the result");
    assert!(driven.notes.is_empty(), "{:?}", driven.notes);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_takes_nothing_does_not_delay_an_abort() {
    let (driven, _) = drive(RawOptions { live: true, grace_ms: Some(0.0), ..raw() }, async |ends| {
        ends.start();
        ends.write("x\n");
        sleep(Duration::from_millis(1)).await;
        ends.reply(CallerReply::Abort);
        ends.stdout = None;
        ends.exit(TerminationCause::Abort, false);
    })
    .await;
    assert_eq!(driven.notes, ["the onOutput listener did not take all output in time"]);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_fails_is_taken_away() {
    let (driven, ends) = drive(RawOptions { live: true, ..raw() }, async |ends| {
        ends.start();
        ends.write("one\n");
        sleep(Duration::from_millis(1)).await;
        ends.reply(CallerReply::OutputTaken(Some("oops".into())));
        sleep(Duration::from_millis(1)).await;
        ends.write("two\n");
        ends.stdout = None;
        ends.exit(TerminationCause::Itself, false);
    })
    .await;
    assert_eq!(ends.heard(), ["stdout: 4"]);
    assert_eq!(driven.notes, ["the onOutput listener failed and was taken away: oops"]);
}

#[tokio::test(start_paused = true)]
async fn a_blocked_process_at_the_limit_is_acknowledged_and_noted() {
    let (driven, ends) = drive(raw(), async |ends| {
        ends.start();
        ends.write("Password: ");
        sleep(Duration::from_millis(1)).await;
        ends.send(ShimEvent::Blocked(true, None));
        ends.stdout = None;
        ends.exit(TerminationCause::Limit, false);
    })
    .await;
    assert_eq!(ends.asked(), ["acknowledge"]);
    assert_eq!(driven.notes, ["perhaps waiting for an answer; its last line is «Password: »"]);
}

#[tokio::test(start_paused = true)]
async fn a_quiet_command_is_scanned_for_its_listener() {
    let (_, ends) = drive(RawOptions { prompts: true, ..raw() }, async |ends| {
        ends.start();
        ends.write("Continue? [y/N] ");
        sleep(Duration::from_millis(400)).await;
        ends.send(ShimEvent::Blocked(false, None));
        sleep(Duration::from_millis(1)).await;
        ends.stdout = None;
        ends.exit(TerminationCause::Itself, false);
    })
    .await;
    assert_eq!(ends.asked(), ["scan"]);
    assert_eq!(ends.heard(), ["prompt: Continue? [y/N] "]);
}
