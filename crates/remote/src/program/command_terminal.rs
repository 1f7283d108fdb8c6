//! Commands in terminals. The terminal here answers the questions of its program, and all its text goes to the host,
//! which has another one with a screen.

use std::sync::Arc;

use crate::link_mailbox::LinkMailbox;
use crate::messages::{TargetCommandPlace, TargetEvent};
use runner::pty::{CommandTerminal, TerminalError};
use sys::TerminalSize;

/// Returns the terminal of a command, if its place is one.
pub fn terminal_for(place: TargetCommandPlace) -> Option<Arc<CommandTerminal>> {
    let TargetCommandPlace::Terminal { cols, rows, drawn } = place else { return None };
    let terminal = CommandTerminal::new(size(cols, rows));
    terminal.set_drawn_elsewhere(drawn);
    Some(terminal)
}

/// Types into a terminal, and tells the host once that is done.
pub fn write(terminal: Option<&Arc<CommandTerminal>>, bytes: Vec<u8>, post: &Arc<LinkMailbox>, run: u64) {
    let Some(terminal) = terminal else { return };
    match terminal.write(bytes) {
        Ok(Some(typed)) => {
            let post = Arc::clone(post);
            tokio::spawn(async move {
                if typed.await.is_ok() {
                    report_typed(&post, run);
                }
            });
        }
        Ok(None) => report_typed(post, run),
        // The end of the run tells the host that nothing more is typed.
        Err(TerminalError::Ended | TerminalError::NotStarted | TerminalError::Used | TerminalError::Unavailable(_)) => {
        }
    }
}

fn report_typed(post: &LinkMailbox, run: u64) {
    // A mailbox that is full is that of a link that is down. The run ends with its lease.
    let _full = post.send(run, &TargetEvent::Typed);
}

pub fn resize(terminal: Option<&Arc<CommandTerminal>>, cols: u16, rows: u16) {
    if let Some(terminal) = terminal {
        terminal.resize(size(cols, rows));
    }
}

fn size(cols: u16, rows: u16) -> TerminalSize {
    TerminalSize { cols: cols.max(1), rows: rows.max(1) }
}

/// Ends the terminal after its command has ended in any way.
pub struct TerminalEndGuard(pub Arc<CommandTerminal>);

impl Drop for TerminalEndGuard {
    fn drop(&mut self) {
        if self.0.check_running().is_ok() {
            self.0.on_program_exit(None);
        }
    }
}
