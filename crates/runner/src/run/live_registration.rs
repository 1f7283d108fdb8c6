//! A command among the runs of this process, for the people who watch.

use std::sync::Arc;

use super::command_listener::CallerReplies;
use super::outcome::CommandOutcome;
use crate::live::{
    LiveRun, RegisteredRun, RunChanges, RunDenials, RunEnding, RunRegistration, RunResourceUsage, millis, runs,
};
use crate::request::PlannedRun;
use ledger::{LedgerRunState, in_milliseconds};
use protocol::EndedBy;
use protocol::task::now_ms;

/// The note of a command that a person has stopped.
pub const STOPPED: &str = "a person has stopped the command on the page";

/// Who has given a command up before its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenUpBy {
    /// Its caller.
    ByCaller,
    /// A person who watches.
    ByPerson,
}

/// Waits until the caller or a person gives up a command that has not started.
pub async fn given_up(replies: &mut CallerReplies, run: Option<&LiveRun>) -> GivenUpBy {
    let Some(run) = run else {
        replies.aborted().await;
        return GivenUpBy::ByCaller;
    };
    tokio::select! {
        biased;
        () = replies.aborted() => GivenUpBy::ByCaller,
        () = run.stopped() => GivenUpBy::ByPerson,
    }
}

/// Registers a command of this machine, if people are to see it.
pub fn register_run(request: &mut PlannedRun) -> Option<RegisteredRun> {
    let shown = runs().register(run_registration(request)?);
    request.live_run = Some(Arc::clone(shown.run()));
    Some(shown)
}

/// Returns the outcome of a command that was given up before its start.
pub fn not_started(request: &mut PlannedRun, by: GivenUpBy) -> CommandOutcome {
    if by == GivenUpBy::ByPerson {
        request.notes.push(STOPPED.to_owned());
    }
    CommandOutcome::not_started(request)
}

/// Returns the facts of a command that is to be registered. `None`: people do not see it.
pub fn run_registration(request: &PlannedRun) -> Option<RunRegistration> {
    Some(RunRegistration {
        run_id: request.mark.clone(),
        kind: request.shown_as?,
        command: RunRegistration::beginning_of(&request.command),
        cwd: request.cwd.to_string_lossy().into_owned(),
        target: None,
        actor: request.actor.clone(),
        started_at: now_ms(),
        limit: request.limit,
        idle_limit: request.idle_limit,
        confinement: request.confine.as_ref().map(|confine| confine.policy.profile.name()),
        undo: request.record.as_ref().is_some_and(|wanted| wanted.undo.is_some()),
        is_fed: request.is_fed(),
        terminal: request.terminal.clone(),
    })
}

/// Returns the end of a command for those who watch. `None`: it could not be run.
pub fn run_ending(outcome: Option<&CommandOutcome>) -> RunEnding {
    let Some(outcome) = outcome else { return RunEnding::with_state_only(LedgerRunState::Refused) };
    let by_person = outcome.ended_by == Some(EndedBy::Abort) && outcome.notes.iter().any(|note| note == STOPPED);
    let has_begun = outcome.pid != 0;
    RunEnding {
        state: outcome.status.into(),
        exit_code: outcome.exit_code,
        signal: outcome.signal.clone(),
        cause: if by_person { Some(EndedBy::Page) } else { outcome.ended_by },
        limit_ms: outcome.limit.map(millis),
        duration_ms: has_begun.then(|| in_milliseconds(outcome.duration)),
        // The usage of a command that goes on is unknown.
        usage: (has_begun && outcome.exit_code.is_some()).then(|| RunResourceUsage::from(outcome.usage)),
        output_path: outcome.files().first().map(|path| path.to_string_lossy().into_owned()),
        task_id: outcome.task_id().map(str::to_owned),
        denied: outcome
            .confinement
            .as_ref()
            .map(|confinement| RunDenials::from(&confinement.denials))
            .unwrap_or_default(),
        changed: RunChanges::from_receipt(outcome.receipt.as_ref(), outcome.undo.as_ref()),
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;
    use crate::live::RunKind;
    use crate::pty::CommandTerminal;
    use crate::request::{CallerStreamOptions, CommandMode, RawOptions};
    use crate::run::CallerReply;
    use ledger::Actor;
    use sys::TerminalSize;

    fn facts_of(raw: RawOptions) -> Option<RunRegistration> {
        run_registration(&PlannedRun::check(RawOptions { cwd: "/".into(), ..raw }).expect("valid"))
    }

    #[test]
    fn people_see_commands_and_terminals_and_the_registry_shows_tasks() {
        let terminal = CommandTerminal::new(TerminalSize { cols: 80, rows: 24 });
        let fed = CallerStreamOptions { bytes: true, fed: true };
        for (raw, kind, is_fed) in [
            (RawOptions::default(), Some(RunKind::Command), false),
            (RawOptions { streams: Some(fed), ..RawOptions::default() }, Some(RunKind::Command), true),
            (RawOptions { terminal: Some(terminal), ..RawOptions::default() }, Some(RunKind::Terminal), false),
            (RawOptions { background: true, ..RawOptions::default() }, None, false),
            (RawOptions { mode: CommandMode::Background, ..RawOptions::default() }, None, false),
        ] {
            let facts = facts_of(raw);
            assert_eq!(facts.as_ref().map(|facts| (facts.kind, facts.is_fed)), kind.map(|kind| (kind, is_fed)));
        }
    }

    #[test]
    fn the_actor_is_known_without_a_ledger() {
        let actor = Actor { agent: Some("reviewer".into()), ..Actor::default() };
        for ledger in [false, true] {
            let raw = RawOptions { actor: Some(actor.clone()), ledger, ..RawOptions::default() };
            assert_eq!(facts_of(raw).and_then(|facts| facts.actor), Some(actor.clone()), "ledger: {ledger}");
        }
        let nobody = RawOptions { actor: Some(Actor::default()), ..RawOptions::default() };
        assert_eq!(facts_of(nobody).and_then(|facts| facts.actor), None);
    }

    #[tokio::test]
    async fn a_command_is_given_up_before_its_start_by_its_caller_or_by_a_person() {
        let shown = runs().register(facts_of(RawOptions::default()).expect("shown"));
        let (replies, inbox) = unbounded_channel();
        let mut inbox = CallerReplies::from(inbox);
        let _ = replies.send(CallerReply::Abort);
        assert_eq!(given_up(&mut inbox, Some(shown.run())).await, GivenUpBy::ByCaller);
        shown.run().stop();
        assert_eq!(given_up(&mut inbox, Some(shown.run())).await, GivenUpBy::ByPerson);
    }

    #[tokio::test]
    async fn what_a_caller_says_before_the_start_is_kept_in_its_order() {
        let (replies, inbox) = unbounded_channel();
        let mut inbox = CallerReplies::from(inbox);
        for reply in [CallerReply::Listen, CallerReply::Input(None), CallerReply::Abort, CallerReply::DataChanged] {
            let _ = replies.send(reply);
        }
        assert_eq!(given_up(&mut inbox, None).await, GivenUpBy::ByCaller);
        assert!(matches!(inbox.recv().await, Some(CallerReply::Listen)));
        assert!(matches!(inbox.recv().await, Some(CallerReply::Input(None))));
        assert!(matches!(inbox.recv().await, Some(CallerReply::DataChanged)));
    }
}
