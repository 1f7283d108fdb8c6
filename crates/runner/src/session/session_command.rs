//! Prepares the run of a session's command: a fresh shell with the session's state, which writes its state at its exit.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use super::shell_session::ShellSession;
use super::shell_state_files::ShellStateFiles;
use super::state_saver::{SessionStateSaver, boot};
use crate::error::RunError;
use crate::live::RunKind;
use crate::request::{CommandMode, PlannedRun, RawOptions};
use crate::run::CommandLaunch;
use crate::shell_state::{SavedShellState, is_complete, mentions_signals, mentions_trap};
use crate::snapshot::CommandSnapshot;
use crate::supervise::AdmissionSlot;
use protocol::plan::{ShellBootCode, ShellStartup};

/// A command that has begun.
pub(super) struct PreparedSessionCommand {
    run: CommandLaunch,
    exchange: ShellStateFiles,
    env: Vec<(String, Option<String>)>,
    before: Option<Arc<SavedShellState>>,
    slot: AdmissionSlot,
}

/// How the shell of a command writes its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StateSaveTime {
    /// Writes no state. The state of the command before stays.
    Never,
    /// Writes the state in the EXIT trap. `early`: the exit code that the trap reports ends the command, while the
    /// shell still writes.
    AtExit { early: bool },
    /// Writes the state on a line after the command, because the command may need the EXIT trap.
    AfterCommand,
}

impl StateSaveTime {
    /// `trapped`: functions or aliases of the session may set the EXIT trap as well.
    fn of(command: &str, trapped: bool, background: bool) -> Self {
        if background {
            // A task leaves no state to the session.
            return Self::Never;
        }
        if trapped || mentions_trap(command) {
            return if is_complete(command) { Self::AfterCommand } else { Self::Never };
        }
        // A shell that a signal terminates also runs its EXIT trap, so that the reported code may be wrong.
        Self::AtExit { early: !mentions_signals(command) }
    }
}

impl PreparedSessionCommand {
    /// Begins a command whose turn has come. An empty `cwd` is the session's directory.
    ///
    /// # Errors
    /// If no command could be run.
    pub fn start(
        session: &ShellSession,
        raw: RawOptions,
        snapshot: Option<CommandSnapshot>,
        slot: AdmissionSlot,
    ) -> Result<Self, RunError> {
        let SessionCommandRequest { request, exchange, env, before } =
            SessionCommandRequest::of(session, raw, snapshot)?;
        Ok(Self { run: CommandLaunch::start(request)?, exchange, env, before, slot })
    }

    /// Returns the run, and the saver of its state.
    pub fn into_parts(self, session: &Arc<ShellSession>) -> (CommandLaunch, SessionStateSaver) {
        let Self { run, exchange, env, before, slot } = self;
        let session = Arc::clone(session);
        (run, SessionStateSaver { session, exchange, env, before, kind: None, storable: None, _slot: slot })
    }
}

/// The request of a command, and what its end needs.
pub(super) struct SessionCommandRequest {
    pub request: PlannedRun,
    exchange: ShellStateFiles,
    env: Vec<(String, Option<String>)>,
    before: Option<Arc<SavedShellState>>,
}

impl SessionCommandRequest {
    /// Describes a command. An empty `cwd` is the session's directory.
    ///
    /// # Errors
    /// If no command could be run.
    pub fn of(
        session: &ShellSession,
        mut raw: RawOptions,
        snapshot: Option<CommandSnapshot>,
    ) -> Result<Self, RunError> {
        let env = std::mem::take(&mut raw.own_env);
        let mut notes = Vec::new();
        notes.extend(session.stale_note());
        let own_directory = !raw.cwd.is_empty();
        if !own_directory {
            let (directory, moved) = session.directory_for_next(raw.draft.as_ref());
            raw.cwd = directory.to_string_lossy().into_owned();
            notes.extend(moved);
        }
        if !is_bash(raw.shell.as_deref()) {
            notes.push("the session keeps no state of a shell that is not bash".to_owned());
        }
        let failed =
            |error: std::io::Error| RunError::system("the files of the session could not be made", error, &raw.command);
        // A recorder cannot follow a path into the host, and a confined shell has no such path.
        let inherits = raw.confine.is_some() || raw.draft.is_some() || raw.is_recorded();
        let exchange = ShellStateFiles::take(inherits).map_err(failed)?;
        let files = exchange.files().map_err(failed)?;
        let report = exchange.report().map_err(failed)?;
        let before = session.state();
        let trapped = before.as_ref().is_some_and(|state| state.mentions_trap())
            || snapshot.as_ref().is_some_and(CommandSnapshot::mentions_trap);
        let background = raw.mode == CommandMode::Background;
        let saving = StateSaveTime::of(&raw.command, trapped, background);
        raw.startup = Some(ShellStartup {
            boot: ShellBootCode::default(),
            given: env.clone(),
            at_exit: matches!(saving, StateSaveTime::AtExit { .. }).then(|| exchange.save_call(false)),
            tail: (saving == StateSaveTime::AfterCommand).then(|| exchange.save_call(true)),
        });
        let mut request = PlannedRun::check(raw)?;
        request.shown_as = request.shown_as.map(|_| RunKind::Session);
        request.notes.extend(notes);
        request.inherited_files = files;
        let begins_with = snapshot.map(|snapshot| snapshot.boot(&mut request));
        let (directory, environment) = (request.cwd.clone(), Arc::clone(&request.environment));
        if let Some(startup) = &mut request.startup {
            startup.boot.early = begins_with.unwrap_or_default();
            let directory = directory.as_os_str().as_bytes();
            if let Some(state) = &before {
                if let Some(wanted) = request.evidence.as_mut().and_then(Arc::get_mut) {
                    wanted.known = state.known();
                }
                let moved = own_directory.then(|| state.in_directory(directory));
                startup.boot = boot(moved.as_ref().unwrap_or(state), &environment.block(directory));
            }
        }
        request.exit_report_pipe = (saving == StateSaveTime::AtExit { early: true }).then_some(report);
        Ok(Self { request, exchange, env, before })
    }
}

fn is_bash(shell: Option<&str>) -> bool {
    shell.is_none_or(|shell| shell.rsplit('/').next() == Some("bash"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_trap_is_left_to_commands_that_may_need_it() {
        use StateSaveTime::{AfterCommand, AtExit, Never};
        for (command, trapped, saving) in [
            ("make", false, AtExit { early: true }),
            ("ls skills", false, AtExit { early: true }),
            ("kill $$", false, AtExit { early: false }),
            ("pkill -P $$", false, AtExit { early: false }),
            ("trap 'rm x' EXIT", false, AfterCommand),
            ("cleanup_on_exit", true, AfterCommand),
            ("trap x EXIT; cat <<E", false, Never),
        ] {
            assert_eq!(StateSaveTime::of(command, trapped, false), saving, "{command}");
            assert_eq!(StateSaveTime::of(command, trapped, true), Never, "{command} in the background");
        }
    }

    #[test]
    fn only_bash_keeps_state() {
        assert!([None, Some("bash"), Some("/opt/bin/bash")].into_iter().all(is_bash));
        assert!([Some("zsh"), Some("/bin/sh"), Some("/bin/bash5")].into_iter().all(|shell| !is_bash(shell)));
    }
}
