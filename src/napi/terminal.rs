//! A terminal as JavaScript sees it: what takes time is answered by an event with the number that was returned.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;
use nix::sys::signal::Signal;
use tokio::sync::mpsc::unbounded_channel;

use super::bridge::Bridge;
use super::calls::{Calls, failed};
use super::events::NativeEvent;
use super::request::{NativeOptions, NativeRequest};
use super::safety;
use crate::background::Pattern;
use crate::error::Error;
use crate::pty::{self, Terminal, TerminalError, Until, Why};
use crate::request::RawOptions;
use crate::run::{Reply, Run};
use crate::snapshot::Start;
use crate::sys::TerminalSize;

/// What a person would see of a terminal.
#[napi(object, object_from_js = false)]
pub struct TerminalScreen {
    /// One text a row, without blanks at its end: as many as the terminal has rows. A character of two cells stands once.
    pub lines: Vec<String>,
    /// Where the next character would go.
    pub cursor: TerminalCursor,
    /// As the program has set it, `''` while it has not; at most 4 KiB.
    pub title: String,
    /// The program draws the whole screen, as an editor or a pager does: what was there before comes back at its end.
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

/// What a program has asked of those who type for it.
#[napi(object, object_from_js = false)]
pub struct TerminalModes {
    /// Arrows are to be sent in their other form: `ESC O A` in place of `ESC [ A` (DECCKM).
    pub application_cursor: bool,
    /// What is pasted is to stand between `ESC [ 200 ~` and `ESC [ 201 ~`.
    pub bracketed_paste: bool,
}

/// What a wait has come to.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct TerminalWaited {
    /// What came first.
    #[napi(ts_type = "'exit' | 'idle' | 'pattern' | 'timeout'")]
    pub reason: String,
    /// As in `BashResult`; `null` while the program runs.
    pub exit_code: Option<i32>,
}

/// A terminal that runs one command.
#[napi]
pub struct NativeTerminal {
    calls: Arc<Calls>,
    terminal: Arc<Terminal>,
    /// Its command, 0 before there is one.
    command: AtomicU32,
}

#[napi]
impl NativeTerminal {
    /// Sizes are from 1 to 65,535. Nothing is made yet.
    #[napi(constructor)]
    pub fn new(bridge: &Bridge, cols: u32, rows: u32) -> Self {
        let terminal = Terminal::new(size(cols, rows));
        Self { calls: Arc::clone(&bridge.calls), terminal, command: AtomicU32::new(0) }
    }

    /// Starts its command and returns the number of that; answered as `Bridge.start` is, after an event with `started`, which
    /// is to be answered by `known`.
    #[napi]
    pub fn start(
        &self,
        command: String,
        cwd: String,
        host_env: String,
        umask: u32,
        options: Option<NativeOptions>,
    ) -> u32 {
        let native = NativeRequest { command, cwd, host_env, umask, options: options.unwrap_or_default() };
        let id = self.calls.run_in_terminal(&self.terminal, native);
        self.command.store(id, Ordering::Relaxed);
        id
    }

    /// Those who want to listen do so now.
    #[napi]
    pub fn known(&self) {
        self.terminal.known();
        self.reply(Reply::Data);
    }

    /// Whether somebody listens to `data`.
    #[napi]
    pub fn listened(&self, on: bool) {
        self.terminal.listened(on);
        self.reply(Reply::Data);
    }

    /// The listeners have taken the last `data`.
    #[napi]
    pub fn heard(&self) {
        self.terminal.heard();
        self.reply(Reply::Data);
    }

    /// Has this typed. 0 when the terminal has taken it all; else a number that is answered by `closed` when it has, or by an error.
    #[napi]
    pub fn write(&self, data: Uint8Array) -> u32 {
        let typed = match self.terminal.write(data.to_vec()) {
            Ok(None) => return 0,
            Ok(Some(typed)) => Ok(typed),
            Err(error) => Err(error),
        };
        let id = self.calls.number();
        let begun = typed.map_err(Error::from).and_then(|typed| Ok((typed, Run::anywhere()?)));
        let Some((typed, runtime)) = self.calls.begun(id, begun) else { return id };
        self.calls.call(id, runtime, None, None, async move {
            match typed.await {
                Ok(()) => NativeEvent { closed: Some(true), ..NativeEvent::default() },
                Err(_) => failed(TerminalError::Ended.into()),
            }
        });
        id
    }

    /// Sizes are from 1 to 65,535.
    #[napi]
    pub fn resize(&self, cols: u32, rows: u32) {
        self.terminal.resize(size(cols, rows));
    }

    /// What a person would see now.
    #[napi]
    pub fn screen(&self) -> TerminalScreen {
        let pty::Shown { lines, row, col, title, alternate, .. } = self.terminal.screen();
        TerminalScreen { lines, cursor: TerminalCursor { row: row.into(), col: col.into() }, title, alternate }
    }

    /// What the program has asked of those who type.
    #[napi]
    pub fn modes(&self) -> TerminalModes {
        let pty::Shown { application_cursor, bracketed_paste, .. } = self.terminal.screen();
        TerminalModes { application_cursor, bracketed_paste }
    }

    /// Waits; answered by `waited`. Times are in ms.
    #[napi]
    pub fn wait(
        &self,
        timeout_ms: Option<f64>,
        idle_ms: Option<f64>,
        pattern: Option<String>,
        flags: Option<String>,
    ) -> u32 {
        let id = self.calls.number();
        let millis = |ms: f64| Duration::from_secs_f64(ms.max(0.0) / 1000.0);
        let begun = pattern
            .map(|source| Pattern::new(&source, flags.as_deref().unwrap_or_default()))
            .transpose()
            .and_then(|pattern| Ok((pattern, Run::anywhere()?)));
        let Some((pattern, runtime)) = self.calls.begun(id, begun) else { return id };
        let until = Until { timeout: timeout_ms.map(millis), idle: idle_ms.map(millis), pattern };
        let terminal = Arc::clone(&self.terminal);
        self.calls.call(id, runtime, None, None, async move {
            match terminal.wait(until).await {
                Ok(waited) => {
                    let reason = match waited.why {
                        Why::Exit => "exit",
                        Why::Idle => "idle",
                        Why::Pattern => "pattern",
                        Why::Timeout => "timeout",
                    };
                    let waited = TerminalWaited { reason: reason.to_owned(), exit_code: waited.exit_code };
                    NativeEvent { waited: Some(waited), ..NativeEvent::default() }
                }
                Err(error) => failed(error.into()),
            }
        });
        id
    }

    /// Sends a signal by its number to the programs that keys go to, and to the shell's group. One that is none is left alone.
    #[napi]
    pub fn signal(&self, number: i32) {
        if let Ok(signal) = Signal::try_from(number) {
            self.reply(Reply::Signal(signal));
        }
    }

    fn reply(&self, reply: Reply) {
        self.calls.reply(self.command.load(Ordering::Relaxed), reply);
    }
}

fn size(cols: u32, rows: u32) -> TerminalSize {
    let [cols, rows] = [cols, rows].map(|side| u16::try_from(side).unwrap_or(u16::MAX).max(1));
    TerminalSize { cols, rows }
}

impl Calls {
    /// Runs a command in a terminal.
    fn run_in_terminal(self: &Arc<Self>, terminal: &Arc<Terminal>, native: NativeRequest) -> u32 {
        let id = self.number();
        let begun = safety::guard(native.options.safety.as_ref()).map_err(Error::InvalidArg).and_then(|guard| {
            let raw = RawOptions { guard, terminal: Some(Arc::clone(terminal)), ..native.into() };
            let start = Start::begin(raw)?;
            Ok((start.runtime()?, start))
        });
        let Some((runtime, start)) = self.begun(id, begun) else { return id };
        let (reply, inbox) = unbounded_channel();
        let teller = self.teller(id);
        let ends = Ends(Arc::clone(terminal));
        self.call(id, runtime, Some(reply), None, async move {
            match start.finish(teller, inbox).await {
                Ok(ran) => {
                    ends.0.end(ran.outcome.exit_code);
                    NativeEvent { result: Some(ran.outcome.into()), ..NativeEvent::default() }
                }
                Err(error) => {
                    ends.0.take_back();
                    failed(error)
                }
            }
        });
        id
    }
}

/// However its command ends, also with the thread that has started it, its terminal is let go of.
struct Ends(Arc<Terminal>);

impl Drop for Ends {
    fn drop(&mut self) {
        if self.0.running().is_ok() {
            self.0.end(None);
        }
    }
}
