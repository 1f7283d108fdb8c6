//! The host's own time limits: a program that says nothing, and stays, holds no call up for ever.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::remote_target::{RemoteTarget, TargetState};

/// Why a call is lost whose answer is overdue.
pub(super) const ANSWER_OVERDUE: &str = "the program there has not told of its end in time";

/// Time until a call that waits for others is looked at again.
const QUEUED_RUN_CHECK: Duration = Duration::from_secs(5);

/// Waits until a link was there for this long in all since the run began. A program cannot answer through a cut, and
/// does not know of a run that waits for the end of others.
pub(super) async fn wait_connected_for(target: &RemoteTarget, run: u64, mut left: Duration) {
    let mut state = target.state.subscribe();
    while !left.is_zero() {
        // The target itself outlives its runs.
        if state.wait_for(|state| *state == TargetState::Connected).await.is_err() {
            std::future::pending::<()>().await;
        }
        let (begun, since) = (!target.outbox.is_unbegun(run), Instant::now());
        let cut = state.wait_for(|state| *state != TargetState::Connected);
        let _whole = timeout(if begun { left } else { QUEUED_RUN_CHECK }, cut).await.is_err();
        if begun {
            left = left.saturating_sub(since.elapsed());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use tokio::sync::mpsc::unbounded_channel;

    use super::super::distant_run::DistantRunEnd;
    use super::super::scripted_target::scripted_target;
    use super::super::target_requests::UnansweredRequest;
    use super::*;
    use crate::messages::{TargetCommand, TargetCommandPlace};
    use capture::OutputStream;
    use runner::request::RawOptions;
    use runner::run::outcome::CommandStatus;
    use runner::run::{BlockedPrompt, CommandListener, LiveView, judge_distant};

    const HOUR: Duration = Duration::from_hours(1);

    struct DeafListener;

    impl CommandListener for DeafListener {
        fn output(&self, _stream: OutputStream, _text: String) {}
        fn live_view(&self, _view: LiveView) {}
        fn prompt(&self, _prompt: BlockedPrompt) {}
        fn allocate(&self, _stream: OutputStream) {}
    }

    #[tokio::test(start_paused = true)]
    async fn a_command_whose_end_is_never_told_is_lost_after_its_limit() {
        let target = scripted_target();
        let raw =
            RawOptions { command: "echo".into(), cwd: "/".into(), timeout_ms: Some(1_000.0), ..RawOptions::default() };
        let judged = judge_distant(raw, "test", None).expect("harmless");
        let order = TargetCommand {
            mark: "m".into(),
            command: "echo".into(),
            cwd: "/".into(),
            options: "{}".into(),
            stdin: None,
            place: TargetCommandPlace::Shell,
            registry: None,
            background: false,
        };
        let since = Instant::now();
        let run = target.run(order, judged).expect("an open target");
        let (_replies, inbox) = unbounded_channel();
        let DistantRunEnd::Outcome(outcome, _) = run.finish(DeafListener, inbox).await else {
            panic!("it has an outcome")
        };
        assert_eq!((outcome.status, outcome.exit_code), (CommandStatus::Lost, None));
        assert!(outcome.notes[0].contains(ANSWER_OVERDUE), "{:?}", outcome.notes);
        assert!(since.elapsed() < Duration::from_mins(1), "{:?}", since.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_is_never_answered_is_lost_and_a_wait_is_not() {
        let target = scripted_target();
        let answer = target.stat("x").await;
        assert!(matches!(answer, Err(UnansweredRequest::Lost(ANSWER_OVERDUE))), "{answer:?}");
        let ask = crate::messages::TargetRequest::Dial("h".into(), 1);
        assert_eq!(ask.response_timeout(), None);
        assert!(timeout(HOUR, target.request(ask)).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn time_without_a_link_does_not_count() {
        let target = scripted_target();
        let mut linked = pin!(wait_connected_for(&target, 1, HOUR));
        assert!(timeout(HOUR / 2, &mut linked).await.is_err());
        target.set_state(TargetState::Disconnected, "cut");
        assert!(timeout(2 * HOUR, &mut linked).await.is_err());
        target.set_state(TargetState::Connected, "");
        assert!(timeout(HOUR / 4, &mut linked).await.is_err());
        let since = Instant::now();
        linked.await;
        assert!(since.elapsed() <= HOUR / 4 + Duration::from_secs(1));
    }
}
