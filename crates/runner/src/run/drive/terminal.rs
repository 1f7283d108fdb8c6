//! The terminal of a command: its input, and the text for its listeners.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::pty::{Terminal, Typing};

/// The terminal of a running command.
pub struct TerminalIo {
    terminal: Arc<Terminal>,
    typing: Typing,
    /// The programs' end, open until the shell has exited: nothing before that is the end of the output.
    other_end: Option<OwnedFd>,
}

impl TerminalIo {
    pub fn new(terminal: &Arc<Terminal>, other_end: Option<OwnedFd>) -> io::Result<Self> {
        Ok(Self { terminal: Arc::clone(terminal), typing: Typing::of(terminal)?, other_end })
    }

    /// The shell has exited.
    pub fn on_exit(&mut self) {
        self.other_end = None;
    }

    /// Types queued input. Returns now and then, and is to be called again.
    pub async fn type_queued(&self) {
        self.typing.go_on().await;
    }

    /// Whether no more is read before its listeners have taken the text that waits.
    pub fn is_full(&self) -> bool {
        self.terminal.is_full()
    }

    /// Whether it has more than could be drawn at once.
    pub fn is_behind(&self) -> bool {
        self.terminal.is_behind()
    }

    pub fn draw_more(&self) {
        self.terminal.draw_on();
    }

    /// The next text for its listeners, unless they are busy.
    pub fn next_data(&self) -> Option<String> {
        self.terminal.next_data()
    }

    /// Whether its listeners have not taken all text.
    pub fn awaits_listeners(&self) -> bool {
        self.terminal.is_heard_of()
    }

    /// The output has ended.
    pub fn finish_data(&self) {
        self.terminal.finish_data();
    }

    /// Its listeners get no more.
    pub fn stop_listeners(&self) {
        self.terminal.give_listeners_up();
    }

    /// The group of processes that keys go to.
    pub fn foreground(&self) -> Option<i32> {
        self.terminal.foreground()
    }
}
