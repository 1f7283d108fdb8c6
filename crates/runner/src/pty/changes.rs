//! Changes of a terminal, for those who show its screen elsewhere.

use tokio::sync::watch;

use super::terminal::{Moment, Program, Terminal};

/// The changes of a terminal.
pub struct Changes(watch::Receiver<Moment>);

impl Changes {
    /// Waits for the next change. `false`: the program has ended, and no change follows.
    pub async fn next(&mut self) -> bool {
        self.0.changed().await.is_ok() && self.0.borrow().program == Program::Running
    }
}

impl Terminal {
    /// Returns the changes from here on.
    pub fn changes(&self) -> Changes {
        Changes(self.moment())
    }
}
