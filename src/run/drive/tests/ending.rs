//! When a command is over: exits, drains, limits, aborts, and shims that are lost.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_command_is_over_once_it_has_exited_and_its_pipes_are_closed() {
    let (driven, _) = drive(raw(), async |ends| {
        ends.start();
        ends.write("hello\n");
        ends.stdout = None;
        ends.exit(Cause::Itself, false);
    })
    .await;
    assert!(matches!(driven.exit, Some(Ok(_))));
    assert_eq!((driven.stdout.as_str(), millis(&driven)), ("hello\n", 0));
}

#[tokio::test(start_paused = true)]
async fn quiet_survivors_are_waited_for_a_quarter_of_a_second() {
    let (driven, _) = drive(raw(), async |ends| {
        ends.start();
        ends.exit(Cause::Itself, true);
    })
    .await;
    assert!((250..=252).contains(&millis(&driven)), "{}", millis(&driven));
}

#[tokio::test(start_paused = true)]
async fn output_of_survivors_extends_the_drain() {
    let (driven, _) = drive(raw(), async |ends| {
        ends.start();
        ends.exit(Cause::Itself, true);
        for _ in 0..3 {
            sleep(Duration::from_millis(200)).await;
            ends.write("x");
        }
    })
    .await;
    assert_eq!(driven.stdout, "xxx");
    assert!((850..=856).contains(&millis(&driven)), "{}", millis(&driven));
}

#[tokio::test(start_paused = true)]
async fn a_drain_ends_after_two_seconds_of_output() {
    let (driven, _) = drive(raw(), async |ends| {
        ends.start();
        ends.exit(Cause::Itself, true);
        for _ in 0..30 {
            sleep(Duration::from_millis(100)).await;
            ends.write("x");
        }
    })
    .await;
    assert!((2_000..=2_002).contains(&millis(&driven)), "{}", millis(&driven));
}

#[tokio::test(start_paused = true)]
async fn a_command_that_never_goes_is_given_up_after_limit_grace_and_a_second() {
    let limited = RawOptions { timeout_ms: Some(5_000.0), grace_ms: Some(3_000.0), ..raw() };
    let (driven, ends) = drive(limited, async |ends| ends.start()).await;
    assert_eq!(driven.exit, Some(Err(ExitUnknown::AliveAfterLimit)));
    assert!((9_000..=9_002).contains(&millis(&driven)), "{}", millis(&driven));
    assert!(ends.asked().is_empty(), "the shim keeps the limit itself");
}

#[tokio::test(start_paused = true)]
async fn an_abort_terminates_and_gives_up_after_the_grace_and_a_second() {
    let (driven, ends) = drive(RawOptions { grace_ms: Some(500.0), ..raw() }, async |ends| {
        ends.start();
        sleep(Duration::from_secs(1)).await;
        ends.reply(Reply::Abort);
        ends.reply(Reply::Abort);
    })
    .await;
    assert_eq!(driven.exit, Some(Err(ExitUnknown::AliveAfterAbort)));
    assert!((2_500..=2_502).contains(&millis(&driven)), "{}", millis(&driven));
    assert_eq!(ends.asked(), ["terminate"], "once");
}

#[tokio::test(start_paused = true)]
async fn an_abort_during_the_drain_ends_the_survivors() {
    let (driven, ends) = drive(raw(), async |ends| {
        ends.start();
        ends.exit(Cause::Itself, true);
        sleep(Duration::from_millis(100)).await;
        ends.reply(Reply::Abort);
    })
    .await;
    assert!(matches!(driven.exit, Some(Ok(Ended { cause: Cause::Abort, .. }))));
    assert_eq!(ends.asked(), ["terminate"]);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_is_gone_aborts_its_command() {
    let (driven, ends) = drive(raw(), async |ends| {
        ends.start();
        ends.replies = None;
        sleep(Duration::from_millis(10)).await;
        ends.stdout = None;
        ends.exit(Cause::Abort, false);
    })
    .await;
    assert!(matches!(driven.exit, Some(Ok(_))));
    assert_eq!(ends.asked(), ["terminate"]);
}

#[tokio::test(start_paused = true)]
async fn a_shim_that_is_lost_before_it_began_starts_nothing() {
    let (driven, _) = drive(raw(), async |ends| ends.send(ShimEvent::Lost { untaken: true })).await;
    assert!(matches!(driven.result, Err(NotStarted::HelpersKilled)));
    let failure = Failure { step: LaunchStep::Exec, errno: 2 };
    let (driven, _) = drive(raw(), async |ends| ends.send(ShimEvent::Failed(failure))).await;
    assert!(matches!(driven.result, Err(NotStarted::Failed(_))));
}

#[tokio::test(start_paused = true)]
async fn an_aborted_command_is_not_started_again() {
    // The shell that was found before may be gone, and another one would be searched for.
    let shell_gone = || ShimEvent::Failed(Failure { step: LaunchStep::Exec, errno: 2 });
    for event in [shell_gone(), ShimEvent::Lost { untaken: true }] {
        let (driven, _) = drive(raw(), async |ends| {
            ends.reply(Reply::Abort);
            sleep(Duration::from_millis(1)).await;
            ends.send(event);
        })
        .await;
        assert!(driven.result.is_ok());
        assert_eq!(driven.exit, Some(Err(ExitUnknown::AliveAfterAbort)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_shim_that_is_lost_later_ends_the_command() {
    let (driven, _) = drive(raw(), async |ends| {
        ends.start();
        ends.write("last words");
        ends.stdout = None;
        ends.send(ShimEvent::Lost { untaken: false });
    })
    .await;
    assert_eq!(driven.exit, Some(Err(ExitUnknown::ShimKilled)));
    assert_eq!(driven.stdout, "last words");
}

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
        ends.exit(Cause::Limit, false);
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
        ends.exit(Cause::Itself, false);
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
    assert!((3_500..=3_503).contains(&millis(&driven)), "{}", millis(&driven));
    assert!(driven.notes[0].starts_with("silence: "), "{:?}", driven.notes);
}

#[tokio::test(start_paused = true)]
async fn an_exit_after_a_long_silence_that_was_aborted_says_nothing_of_it() {
    let limited = RawOptions { idle_timeout_ms: Some(2_000.0), ..raw() };
    let (driven, ends) = drive(limited, async |ends| {
        ends.start();
        sleep(Duration::from_millis(1_000)).await;
        ends.reply(Reply::Abort);
        sleep(Duration::from_millis(1_500)).await;
        ends.stdout = None;
        ends.exit(Cause::Abort, false);
    })
    .await;
    assert_eq!(ends.asked(), ["terminate"]);
    assert!(driven.notes.is_empty(), "{:?}", driven.notes);
}
