//! The limit on silence.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_command_that_is_silent_for_too_long_is_at_its_limit() {
    let limited = RawOptions { idle_timeout_ms: Some(2_000.0), ..raw() };
    let (driven, ends) = drive(limited, async |ends| {
        ends.start();
        for _ in 0..3 {
            sleep(Duration::from_millis(1_500)).await;
            ends.write("\r");
        }
        sleep(Duration::from_millis(2_001)).await;
        ends.stdout = None;
        ends.exit(TerminationCause::Limit, false);
    })
    .await;
    assert_eq!(ends.asked(), ["terminate at limit"], "once, and only after a pause that is long enough");
    let note = "silence: the command wrote nothing for 2 s (idleTimeoutMs), which counts as its time limit";
    assert_eq!(driven.notes, [note]);
}

#[tokio::test(start_paused = true)]
async fn output_that_comes_with_the_end_of_the_silence_counts() {
    let limited = RawOptions { idle_timeout_ms: Some(2_000.0), ..raw() };
    let (driven, ends) = drive(limited, async |ends| {
        ends.start();
        sleep(Duration::from_millis(1_999)).await;
        ends.write("x");
        sleep(Duration::from_millis(1_000)).await;
        ends.stdout = None;
        ends.exit(TerminationCause::Itself, false);
    })
    .await;
    assert!(ends.asked().is_empty());
    assert!(driven.notes.is_empty(), "{:?}", driven.notes);
}

#[tokio::test(start_paused = true)]
async fn a_silent_command_that_never_goes_is_given_up_after_the_grace_and_a_second() {
    let limited = RawOptions { idle_timeout_ms: Some(2_000.0), grace_ms: Some(500.0), ..raw() };
    let (driven, ends) = drive(limited, async |ends| ends.start()).await;
    assert_eq!(driven.exit, Some(Err(ExitUnknown::AliveAfterLimit)));
    assert_eq!(ends.asked(), ["terminate at limit"]);
    assert_took(driven.elapsed, 3_500);
    assert!(driven.notes[0].starts_with("silence: "), "{:?}", driven.notes);
}

#[tokio::test(start_paused = true)]
async fn an_exit_after_a_long_silence_that_was_aborted_says_nothing_of_it() {
    let limited = RawOptions { idle_timeout_ms: Some(2_000.0), ..raw() };
    let (driven, ends) = drive(limited, async |ends| {
        ends.start();
        sleep(Duration::from_millis(1_000)).await;
        ends.reply(CallerReply::Abort);
        sleep(Duration::from_millis(1_500)).await;
        ends.stdout = None;
        ends.exit(TerminationCause::Abort, false);
    })
    .await;
    assert_eq!(ends.asked(), ["terminate"]);
    assert!(driven.notes.is_empty(), "{:?}", driven.notes);
}

#[tokio::test(start_paused = true)]
async fn silence_counts_from_the_start_of_the_shell_with_and_without_pipes() {
    for (start, closed) in [(0, false), (0, true), (1_000, false), (1_000, true)] {
        let limited = RawOptions { idle_timeout_ms: Some(2_000.0), grace_ms: Some(500.0), ..raw() };
        let (driven, ends) = drive(limited, async |ends| {
            sleep(Duration::from_millis(start)).await;
            ends.start();
            if closed {
                ends.close();
            }
            sleep(Duration::from_millis(1_990)).await;
            assert!(ends.asked().is_empty(), "{start} {closed}");
        })
        .await;
        assert_eq!(ends.asked(), ["terminate at limit"], "{start} {closed}");
        assert_took(driven.elapsed, u128::from(start) + 2_000 + 500 + 1_000);
    }
}

#[tokio::test(start_paused = true)]
async fn any_byte_of_either_stream_ends_a_silence() {
    for (merge, stream, text) in [
        (false, OutputStream::Stdout, ".\n"),
        (false, OutputStream::Stderr, ".\n"),
        (true, OutputStream::Stdout, ".\n"),
        (false, OutputStream::Stdout, "7%\r"),
        (false, OutputStream::Stdout, "\x1b[0m"),
    ] {
        let limited = RawOptions { idle_timeout_ms: Some(2_000.0), merge, ..raw() };
        let (driven, ends) = drive(limited, async |ends| {
            ends.start();
            for _ in 0..5 {
                sleep(Duration::from_millis(1_990)).await;
                ends.write_to(stream, text);
            }
            ends.close();
            ends.exit(TerminationCause::Itself, false);
        })
        .await;
        assert!(ends.asked().is_empty() && driven.notes.is_empty(), "{merge} {stream:?} {text:?}");
        assert_took(driven.elapsed, 5 * 1_990);
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_in_which_a_listener_holds_the_output_back_is_no_silence() {
    let limited = RawOptions { idle_timeout_ms: Some(500.0), live: true, ..raw() };
    let (driven, ends) = drive(limited, async |ends| {
        ends.start();
        ends.flood().await;
        sleep(Duration::from_secs(10)).await;
        assert!(ends.asked().is_empty(), "the command waits for its listener");
        for _ in 0..8 {
            ends.reply(CallerReply::OutputTaken(None));
            sleep(Duration::from_millis(1)).await;
        }
        sleep(Duration::from_millis(480)).await;
        assert!(ends.asked().is_empty(), "the command has just written");
        sleep(Duration::from_millis(20)).await;
        ends.close();
        ends.exit(TerminationCause::Limit, false);
    })
    .await;
    assert_eq!(ends.asked(), ["terminate at limit"]);
    assert_eq!(driven.notes.len(), 1, "{:?}", driven.notes);
}

#[tokio::test(start_paused = true)]
async fn silence_counts_from_the_end_of_a_hold_also_when_nothing_more_was_written() {
    let limited = RawOptions { idle_timeout_ms: Some(500.0), live: true, ..raw() };
    let (driven, ends) = drive(limited, async |ends| {
        ends.start();
        // One batch is on its way to the listener, another is held for it, and the pipe is empty.
        for _ in 0..2 {
            ends.write(&"x".repeat(64 * 1024));
            sleep(Duration::from_millis(1)).await;
        }
        sleep(Duration::from_secs(10)).await;
        for _ in 0..2 {
            ends.reply(CallerReply::OutputTaken(None));
            sleep(Duration::from_millis(1)).await;
        }
        sleep(Duration::from_millis(490)).await;
        assert!(ends.asked().is_empty(), "the time of the hold does not count");
        sleep(Duration::from_millis(20)).await;
        ends.close();
        ends.exit(TerminationCause::Limit, false);
    })
    .await;
    assert_eq!(ends.asked(), ["terminate at limit"]);
    assert_eq!(driven.notes.len(), 1, "{:?}", driven.notes);
}

#[tokio::test(start_paused = true)]
async fn the_last_words_of_a_silent_command_are_kept() {
    let (driven, _) = drive(RawOptions { idle_timeout_ms: Some(1_500.0), ..raw() }, async |ends| {
        ends.start();
        ends.write("start\n");
        sleep(Duration::from_millis(3_400)).await;
        assert_eq!(ends.asked(), ["terminate at limit"]);
        ends.write("bye\n");
        ends.close();
        ends.exit(TerminationCause::Limit, false);
    })
    .await;
    assert_eq!(driven.stdout, "start\nbye\n");
    let note = "silence: the command wrote nothing for 1.5 s (idleTimeoutMs), which counts as its time limit";
    assert_eq!(driven.notes, [note]);
    assert_took(driven.elapsed, 3_400);
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_before_the_silence_is_noted_as_no_silence() {
    let limited = RawOptions { timeout_ms: Some(300.0), idle_timeout_ms: Some(60_000.0), ..raw() };
    let (driven, ends) = drive(limited, async |ends| {
        ends.start();
        sleep(Duration::from_millis(300)).await;
        ends.close();
        ends.exit(TerminationCause::Limit, false);
    })
    .await;
    assert!(ends.asked().is_empty(), "the shim keeps that limit itself");
    assert!(driven.notes.is_empty(), "{:?}", driven.notes);
}
