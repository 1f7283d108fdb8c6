//! Changes of a terminal, for those who show its screen elsewhere.

use tokio::sync::watch;

use super::terminal::{CommandTerminal, TerminalActivity, TerminalProgram};

/// The changes of a terminal.
pub struct TerminalChanges(watch::Receiver<TerminalActivity>);

impl TerminalChanges {
    /// Waits for the next change. `false`: the program has ended, and no change follows.
    pub async fn next(&mut self) -> bool {
        self.0.changed().await.is_ok() && self.0.borrow().program == TerminalProgram::Running
    }
}

impl CommandTerminal {
    /// Returns the changes from here on.
    pub fn changes(&self) -> TerminalChanges {
        TerminalChanges(self.subscribe_activity())
    }
}
