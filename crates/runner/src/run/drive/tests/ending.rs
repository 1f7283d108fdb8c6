//! When a command is over: exits, aborts, and shims that are lost.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_command_is_over_once_it_has_exited_and_its_pipes_are_closed() {
    let (driven, _) = drive(raw(), async |ends| {
        ends.start();
        ends.write("hello\n");
        ends.stdout = None;
        ends.exit(TerminationCause::Itself, false);
    })
    .await;
    assert!(matches!(driven.exit, Some(Ok(_))));
    assert_eq!((driven.stdout.as_str(), millis(&driven)), ("hello\n", 0));
}

#[tokio::test(start_paused = true)]
async fn an_abort_terminates_and_gives_up_after_the_grace_and_a_second() {
    let (driven, ends) = drive(RawOptions { grace_ms: Some(500.0), ..raw() }, async |ends| {
        ends.start();
        sleep(Duration::from_secs(1)).await;
        ends.reply(CallerReply::Abort);
        ends.reply(CallerReply::Abort);
    })
    .await;
    assert_eq!(driven.exit, Some(Err(ExitUnknown::AliveAfterAbort)));
    assert_took(driven.elapsed, 1_000 + 500 + 1_000);
    assert_eq!(ends.asked(), ["terminate"], "once");
}

#[tokio::test(start_paused = true)]
async fn an_abort_during_the_drain_ends_the_survivors() {
    let (driven, ends) = drive(raw(), async |ends| {
        ends.start();
        ends.exit(TerminationCause::Itself, true);
        sleep(Duration::from_millis(100)).await;
        ends.reply(CallerReply::Abort);
    })
    .await;
    assert!(matches!(driven.exit, Some(Ok(ShellExitReport { cause: TerminationCause::Abort, .. }))));
    assert_eq!(ends.asked(), ["terminate"]);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_is_gone_aborts_its_command() {
    let (driven, ends) = drive(raw(), async |ends| {
        ends.start();
        ends.replies = None;
        sleep(Duration::from_millis(10)).await;
        ends.stdout = None;
        ends.exit(TerminationCause::Abort, false);
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
            ends.reply(CallerReply::Abort);
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
