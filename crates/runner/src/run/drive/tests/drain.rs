//! The drain of the pipes after the exit of a shell that has left processes running.

use super::*;

#[tokio::test(start_paused = true)]
async fn quiet_survivors_are_waited_for_a_quarter_of_a_second() {
    let (driven, _) = drive(raw(), async |ends| {
        ends.start();
        ends.exit(TerminationCause::Itself, true);
    })
    .await;
    assert_took(driven.elapsed, 250);
}

#[tokio::test(start_paused = true)]
async fn output_of_survivors_extends_the_drain() {
    let (driven, _) = drive(raw(), async |ends| {
        ends.start();
        ends.exit(TerminationCause::Itself, true);
        for _ in 0..3 {
            sleep(Duration::from_millis(200)).await;
            ends.write("x");
        }
    })
    .await;
    assert_eq!(driven.stdout, "xxx");
    assert_took(driven.elapsed, 850);
}

#[tokio::test(start_paused = true)]
async fn a_drain_ends_after_two_seconds_of_output() {
    let (driven, _) = drive(raw(), async |ends| {
        ends.start();
        ends.exit(TerminationCause::Itself, true);
        for _ in 0..30 {
            sleep(Duration::from_millis(100)).await;
            ends.write("x");
        }
    })
    .await;
    assert_took(driven.elapsed, 2_000);
}

#[tokio::test(start_paused = true)]
async fn a_drain_waits_for_survivors_that_hold_a_pipe_and_for_no_others() {
    for (stdout, stderr, ms) in [(true, true, 250), (true, false, 250), (false, true, 250), (false, false, 0)] {
        let (driven, _) = drive(RawOptions { merge: false, ..raw() }, async |ends| {
            ends.start();
            ends.write("hi\n");
            ends.exit(TerminationCause::Itself, true);
            ends.stdout.take_if(|_| !stdout);
            ends.stderr.take_if(|_| !stderr);
        })
        .await;
        assert_eq!(driven.stdout, "hi\n");
        assert_took(driven.elapsed, ms);
    }
}

#[tokio::test(start_paused = true)]
async fn output_of_either_stream_extends_the_drain() {
    let (driven, _) = drive(RawOptions { merge: false, ..raw() }, async |ends| {
        ends.start();
        ends.exit(TerminationCause::Itself, true);
        for stream in [OutputStream::Stderr, OutputStream::Stdout, OutputStream::Stderr, OutputStream::Stderr] {
            sleep(Duration::from_millis(240)).await;
            ends.write_to(stream, "x");
        }
    })
    .await;
    assert_took(driven.elapsed, 4 * 240 + 250);
}

#[tokio::test(start_paused = true)]
async fn a_drain_ends_with_the_last_holder_of_the_pipes() {
    let (driven, _) = drive(raw(), async |ends| {
        ends.start();
        ends.write("head\n");
        ends.exit(TerminationCause::Itself, true);
        sleep(Duration::from_millis(150)).await;
        ends.write("tail\n");
        ends.close();
    })
    .await;
    assert_eq!(driven.stdout, "head\ntail\n");
    assert_took(driven.elapsed, 150);
}

#[tokio::test(start_paused = true)]
async fn a_drain_is_no_part_of_the_time_of_its_command() {
    let (driven, _) = drive(raw(), async |ends| {
        ends.start();
        sleep(Duration::from_secs(1)).await;
        ends.exit(TerminationCause::Itself, true);
    })
    .await;
    let reported = driven.exit.and_then(Result::ok).map(|ended| ended.duration);
    assert_eq!(reported, Some(Duration::from_millis(1)), "as the shim has measured it");
    assert_took(driven.elapsed, 1_250);
}
