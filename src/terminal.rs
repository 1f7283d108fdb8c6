//! A terminal for JavaScript. Slow calls return a number, and an event with that number answers them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use napi::bindgen_prelude::Uint8Array;
use napi::{Result, Status};
use napi_derive::napi;
use tokio::sync::mpsc::unbounded_channel;

use super::bridge::Bridge;
use super::native_event::NativeEvent;
use super::request::NativeRequest;
use super::result::TerminalWaited;
use super::target::NativeTarget;
use super::target_run::TargetCommandInput;
use super::thread_calls::ThreadCalls;
use remote::TargetCommandPlace;
use remote::client::{DistantRunEnd, RemoteTarget};
use runner::error::RunError;
use runner::pattern::JsPattern;
use runner::pty::{self, CommandTerminal, TerminalError, TerminalWaitEnd, TerminalWaitOptions};
use runner::request::RawOptions;
use runner::run::{CallerReply, SubmittedCommand, runtime};
use runner::snapshot::SnapshotRequest;
use sys::{Signal, TerminalSize};

/// The screen as a person sees it.
#[napi(object, object_from_js = false)]
pub struct TerminalScreen {
    /// One text per row of the terminal, without trailing blanks. A wide character occurs once.
    pub lines: Vec<String>,
    /// The position of the next character.
    pub cursor: TerminalCursor,
    /// The title that the program has set, at most 4 KiB, or `''`.
    pub title: String,
    /// Whether the program draws the whole screen, as an editor or a pager does. The previous content returns at its
    /// end.
    pub alternate: bool,
}

/// A place on the screen, from 0.
#[napi(object, object_from_js = false)]
pub struct TerminalCursor {
    /// From the top.
    pub row: u32,
    /// From the left, in cells.
    pub col: u32,
}

/// The keyboard modes that the program has set.
#[napi(object, object_from_js = false)]
pub struct TerminalModes {
    /// Arrow keys use their other form: `ESC O A` in place of `ESC [ A` (DECCKM).
    pub application_cursor: bool,
    /// Pasted text is enclosed in `ESC [ 200 ~` and `ESC [ 201 ~`.
    pub bracketed_paste: bool,
}

/// A terminal that runs one command.
#[napi]
pub struct NativeTerminal {
    calls: Arc<ThreadCalls>,
    terminal: Arc<CommandTerminal>,
    /// Number of the command's call. 0 before the command is started.
    command: AtomicU32,
}

#[napi]
impl NativeTerminal {
    /// Sizes are from 1 to 65,535. Opens nothing yet.
    #[napi(constructor)]
    pub fn new(bridge: &Bridge, cols: u32, rows: u32) -> Self {
        let terminal = CommandTerminal::new(size(cols, rows));
        Self { calls: Arc::clone(&bridge.calls), terminal, command: AtomicU32::new(0) }
    }

    /// Starts its command and returns its number. Answered as `Bridge.start` is. Sends `started` first, and no data
    /// before `ready`.
    #[napi]
    pub fn start(&self, request: NativeRequest) -> u32 {
        let id = self.calls.run_in_terminal(&self.terminal, request);
        self.command.store(id, Ordering::Relaxed);
        id
    }

    /// Starts its command on a target and returns its number. Answered as `start` is.
    #[napi]
    pub fn start_there(&self, target: &NativeTarget, request: NativeRequest) -> u32 {
        let TerminalSize { cols, rows } = self.terminal.size();
        let place = TargetCommandPlace::Terminal { cols, rows, drawn: false };
        let order = TargetCommandInput { request, place, task_of: None };
        let (terminal, ends) = (Arc::clone(&self.terminal), TerminalEndOnDrop(Arc::clone(&self.terminal)));
        let start = move |target: &Arc<RemoteTarget>, order, judged| target.run_in_terminal(order, judged, &terminal);
        let id = self.calls.run_on_target(target.number, order, None, start, move |ended| match ended {
            DistantRunEnd::Outcome(outcome, _) => ends.0.on_program_exit(outcome.exit_code),
            DistantRunEnd::Failed(_) | DistantRunEnd::Unreachable(_) => ends.0.on_start_failed(),
        });
        self.command.store(id, Ordering::Relaxed);
        id
    }

    /// Called when the listeners are in place: `data` may be sent.
    #[napi]
    pub fn ready(&self) {
        self.terminal.on_start_known();
        self.reply(CallerReply::DataChanged);
    }

    /// Sets whether `data` has a listener.
    #[napi]
    pub fn set_listening(&self, on: bool) {
        self.terminal.set_listened(on);
        self.reply(CallerReply::DataChanged);
    }

    /// Called when the listeners have taken the last `data`.
    #[napi]
    pub fn data_taken(&self) {
        self.terminal.on_text_taken();
        self.reply(CallerReply::DataChanged);
    }

    /// Types the text. Returns 0 if the terminal has taken all of it, or else a number that is answered by `done` or
    /// `error`.
    #[napi]
    pub fn write(&self, data: Uint8Array) -> u32 {
        let typed = match self.terminal.write(data.to_vec()) {
            Ok(None) => return 0,
            Ok(Some(typed)) => Ok(typed),
            Err(error) => Err(error),
        };
        let id = self.calls.next_number();
        let started = typed.map_err(RunError::from).and_then(|typed| Ok((typed, runtime()?)));
        let Some((typed, runtime)) = self.calls.start_or_report(id, started) else { return id };
        self.calls.run_call(id, runtime, None, None, async move {
            match typed.await {
                Ok(()) => NativeEvent::Done,
                Err(_) => RunError::from(TerminalError::Ended).into(),
            }
        });
        id
    }

    /// Sizes are from 1 to 65,535.
    #[napi]
    pub fn resize(&self, cols: u32, rows: u32) {
        self.terminal.resize(size(cols, rows));
    }

    /// Returns the current screen.
    #[napi]
    pub fn screen(&self) -> TerminalScreen {
        let pty::ScreenContent { lines, row, col, title, alternate, .. } = self.terminal.screen();
        TerminalScreen { lines, cursor: TerminalCursor { row: row.into(), col: col.into() }, title, alternate }
    }

    /// Returns the modes that the program has set.
    #[napi]
    pub fn modes(&self) -> TerminalModes {
        let pty::ScreenContent { application_cursor, bracketed_paste, .. } = self.terminal.screen();
        TerminalModes { application_cursor, bracketed_paste }
    }

    /// Waits. Answered by `waited`. Times are in ms.
    #[napi]
    pub fn wait(
        &self,
        timeout_ms: Option<f64>,
        idle_ms: Option<f64>,
        pattern: Option<String>,
        flags: Option<String>,
    ) -> u32 {
        let id = self.calls.next_number();
        let millis = |ms: f64| Duration::from_secs_f64(ms.max(0.0) / 1000.0);
        let started = pattern
            .map(|source| JsPattern::new(&source, flags.as_deref().unwrap_or_default()))
            .transpose()
            .map_err(RunError::from)
            .and_then(|pattern| Ok((pattern, runtime()?)));
        let Some((pattern, runtime)) = self.calls.start_or_report(id, started) else { return id };
        let until = TerminalWaitOptions { timeout: timeout_ms.map(millis), idle: idle_ms.map(millis), pattern };
        let terminal = Arc::clone(&self.terminal);
        self.calls.run_call(id, runtime, None, None, async move {
            match terminal.wait(until).await {
                Ok(waited) => {
                    let reason = match waited.why {
                        TerminalWaitEnd::Exit => "exit",
                        TerminalWaitEnd::Idle => "idle",
                        TerminalWaitEnd::Pattern => "pattern",
                        TerminalWaitEnd::Timeout => "timeout",
                    };
                    let waited = TerminalWaited { reason: reason.to_owned(), exit_code: waited.exit_code };
                    NativeEvent::Waited { waited }
                }
                Err(error) => RunError::from(error).into(),
            }
        });
        id
    }

    /// Sends a signal by its number to the processes that keys go to, and to the shell's group.
    ///
    /// # Errors
    /// If the platform has no signal with this number.
    #[napi]
    pub fn signal(&self, number: i32) -> Result<()> {
        let signal =
            Signal::from_number(number).map_err(|error| napi::Error::new(Status::InvalidArg, error.to_string()))?;
        self.reply(CallerReply::Signal(signal));
        Ok(())
    }

    fn reply(&self, reply: CallerReply) {
        self.calls.reply(self.command.load(Ordering::Relaxed), reply);
    }
}

fn size(cols: u32, rows: u32) -> TerminalSize {
    let [cols, rows] = [cols, rows].map(|side| u16::try_from(side).unwrap_or(u16::MAX).max(1));
    TerminalSize { cols, rows }
}

impl ThreadCalls {
    /// Runs a command in a terminal.
    fn run_in_terminal(self: &Arc<Self>, terminal: &Arc<CommandTerminal>, native: NativeRequest) -> u32 {
        let id = self.next_number();
        let started = native.read().map_err(RunError::from).and_then(|raw| {
            let raw = RawOptions { terminal: Some(Arc::clone(terminal)), ..raw };
            let command = SubmittedCommand::<SnapshotRequest>::start(raw)?;
            Ok((runtime()?, command))
        });
        let Some((runtime, command)) = self.start_or_report(id, started) else { return id };
        let (reply, inbox) = unbounded_channel();
        let emitter = self.emitter(id);
        let ends = TerminalEndOnDrop(Arc::clone(terminal));
        self.run_call(id, runtime, Some(reply), None, async move {
            match command.finish(emitter, inbox).await {
                Ok(ran) => {
                    ends.0.on_program_exit(ran.outcome.exit_code);
                    NativeEvent::result(ran.outcome, None, None)
                }
                Err(error) => {
                    ends.0.on_start_failed();
                    error.into()
                }
            }
        });
        id
    }
}

/// Ends the terminal after its command has ended in any way, even if its thread ends first.
struct TerminalEndOnDrop(Arc<CommandTerminal>);

impl Drop for TerminalEndOnDrop {
    fn drop(&mut self) {
        if self.0.check_running().is_ok() {
            self.0.on_program_exit(None);
        }
    }
}
