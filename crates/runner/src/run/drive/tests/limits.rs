//! Bounds on the time of a command: its limit, its grace, and what may delay the result after them.

use super::*;
use protocol::{ExceededLimit, LimitKind};

#[tokio::test(start_paused = true)]
async fn a_command_that_never_goes_is_given_up_after_limit_grace_and_a_second() {
    for (timeout_ms, grace_ms, given_up) in [
        (None, None, 30_000 + 2_000 + 1_000),
        (Some(1_500.0), None, 1_500 + 2_000 + 1_000),
        (Some(5_000.0), Some(3_000.0), 5_000 + 3_000 + 1_000),
        (Some(700.0), Some(0.0), 700 + 1_000),
        (Some(1.0), Some(0.0), 1 + 1_000),
        (Some(1_500.0), Some(15_000.0), 1_500 + 15_000 + 1_000),
    ] {
        let (driven, ends) = drive(RawOptions { timeout_ms, grace_ms, ..raw() }, async |ends| ends.start()).await;
        assert_eq!(driven.exit, Some(Err(ExitUnknown::AliveAfterLimit)));
        assert_took(driven.elapsed, given_up);
        assert!(ends.asked().is_empty(), "the shim keeps the limit itself");
    }
}

#[tokio::test(start_paused = true)]
async fn an_exit_is_the_end_before_the_limit_and_during_the_grace() {
    for (at, cause) in [
        (1_499, TerminationCause::Itself),
        (1_500, TerminationCause::Limit),
        (1_600, TerminationCause::Limit),
        (16_400, TerminationCause::Limit),
    ] {
        let limited = RawOptions { timeout_ms: Some(1_500.0), grace_ms: Some(15_000.0), ..raw() };
        let (driven, _) = drive(limited, async |ends| {
            ends.start();
            sleep(Duration::from_millis(at)).await;
            ends.write("bye\n");
            ends.close();
            ends.exit(cause, false);
        })
        .await;
        assert!(matches!(driven.exit, Some(Ok(ended)) if ended.cause == cause), "{at}");
        assert_eq!(driven.stdout, "bye\n");
        assert_took(driven.delivered, u128::from(at));
    }
}

#[tokio::test(start_paused = true)]
async fn a_command_that_has_closed_its_pipes_is_over_with_its_exit() {
    let (driven, _) = drive(RawOptions { merge: false, ..raw() }, async |ends| {
        ends.start();
        ends.close();
        sleep(Duration::from_secs(1)).await;
        ends.exit(TerminationCause::Itself, false);
    })
    .await;
    assert!(matches!(driven.exit, Some(Ok(_))));
    assert_took(driven.elapsed, 1_000);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_takes_nothing_delays_a_terminated_command_by_grace_and_a_second() {
    let exceeded = ExceededLimit { limit: LimitKind::Memory, used: 2, allowed: 1 };
    for (cause, timeout_ms, delivered) in [
        (TerminationCause::Limit, 500.0, 500 + 100 + 1_000),
        (TerminationCause::Abort, 60_000.0, 500 + 100 + 1_000),
        (TerminationCause::LimitExceeded(exceeded), 60_000.0, 500 + 1_000),
    ] {
        let limited = RawOptions { timeout_ms: Some(timeout_ms), grace_ms: Some(100.0), live: true, ..raw() };
        let (driven, ends) = drive(limited, async |ends| {
            ends.start();
            ends.flood().await;
            sleep(Duration::from_millis(500 - 4)).await;
            if cause == TerminationCause::Abort {
                ends.reply(CallerReply::Abort);
            }
            ends.close();
            ends.exit(cause, false);
        })
        .await;
        assert_took(driven.delivered, delivered);
        assert_eq!(ends.heard().len(), 1, "one batch, which was not taken");
        assert_eq!(driven.notes, ["the onOutput listener did not take all output in time"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_listener_gets_all_output_of_a_terminated_command_within_its_bound() {
    let limited = RawOptions { timeout_ms: Some(500.0), grace_ms: Some(100.0), live: true, ..raw() };
    let (driven, ends) = drive(limited, async |ends| {
        ends.start();
        ends.flood().await;
        sleep(Duration::from_millis(500 - 4)).await;
        ends.close();
        ends.exit(TerminationCause::Limit, false);
        for _ in 0..5 {
            sleep(Duration::from_millis(30)).await;
            ends.reply(CallerReply::OutputTaken(None));
        }
    })
    .await;
    assert!(driven.delivered < Duration::from_millis(500 + 5 * 30 + 3), "{:?}", driven.delivered);
    let heard: usize = ends.heard().iter().map(|line| line[8..].parse::<usize>().expect("a length")).sum();
    assert_eq!((heard, driven.notes.len()), (240_000, 0));
}

#[tokio::test(start_paused = true)]
async fn input_that_is_not_read_does_not_delay_an_abort() {
    let fed = RawOptions { stdin: Some(vec![b'x'; 8 << 20]), ..raw() };
    let (driven, ends) = drive(fed, async |ends| {
        ends.start();
        sleep(Duration::from_secs(1)).await;
        ends.reply(CallerReply::Abort);
        sleep(Duration::from_millis(10)).await;
        ends.close();
        ends.exit(TerminationCause::Abort, false);
    })
    .await;
    assert_eq!(ends.asked(), ["terminate"]);
    assert_took(driven.delivered, 1_010);
}
