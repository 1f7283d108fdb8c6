//! Tells of each change of the state of a target.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

/// A change of the state of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetStateChange {
    /// What has happened.
    pub turn: TargetTransition,
    /// The reason, in words. Empty with a new link.
    pub reason: String,
    /// How long there was no link. `None`: there was one.
    pub down: Option<Duration>,
    /// The names of the commands whose end will not be known.
    pub lost: Vec<String>,
}

/// What has happened to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetTransition {
    /// There is a link to a new program.
    Connected,
    /// The link is cut.
    Disconnected,
    /// There is a link to the same program again.
    Reconnected,
    /// The program is gone, or was given up.
    Lost,
    /// The target was closed.
    Closed,
}

/// Tells of the changes of one target.
#[derive(Debug, Default)]
pub struct TargetChangeReporter(Mutex<ChangeReporterState>);

#[derive(Debug, Default)]
struct ChangeReporterState {
    to: Option<UnboundedSender<TargetStateChange>>,
    /// Since when there is no link.
    down: Option<Instant>,
    /// Whether the program is gone that was there before the link was cut.
    lost: bool,
}

impl TargetChangeReporter {
    /// Sets the channel.
    pub fn set(&self, to: UnboundedSender<TargetStateChange>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).to = Some(to);
    }

    /// Tells of a change. A link that was cut is there again with [`TargetTransition::Connected`].
    pub fn report(&self, turn: TargetTransition, reason: &str, lost: Vec<String>) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = match turn {
            TargetTransition::Connected if !told.lost => TargetTransition::Reconnected,
            other => other,
        };
        if turn == TargetTransition::Disconnected {
            told.down = Some(Instant::now());
        }
        let change =
            TargetStateChange { turn, reason: reason.to_owned(), down: told.down.map(|down| down.elapsed()), lost };
        match turn {
            TargetTransition::Connected | TargetTransition::Reconnected => (told.down, told.lost) = (None, false),
            TargetTransition::Lost => told.lost = true,
            TargetTransition::Disconnected | TargetTransition::Closed => {}
        }
        if let Some(to) = &told.to {
            // Nobody may listen any more.
            let _gone = to.send(change);
        }
    }
}
