//! Connects to a target for the first time, and again once it is lost.

use std::sync::Arc;

use super::begin::begin;
use super::error::TargetError;
use super::keep::keep;
use super::reach::reach;
use super::settings::Settings;
use super::target::{State, Target};

/// Why no command can run.
pub(super) enum NotReady {
    /// The target was closed.
    Closed,
    /// The target cannot be reached again.
    Unreachable(TargetError),
}

impl Target {
    /// Reaches a machine, and starts the program there.
    ///
    /// # Errors
    /// If the machine cannot be reached, or takes no program. Nothing is left there.
    pub async fn connect(settings: Settings) -> Result<Arc<Self>, TargetError> {
        let reached = reach(&settings).await?;
        let (instance, transport) = begin(&settings, reached).await?;
        let target = Self::new(settings, instance);
        tokio::spawn(keep(Arc::downgrade(&target), transport));
        Ok(target)
    }

    /// Waits until commands can run. Connects anew if the target is lost.
    ///
    /// # Errors
    /// If the target was closed, or cannot be reached again.
    pub(super) async fn ready(self: &Arc<Self>) -> Result<(), NotReady> {
        let mut state = self.state.subscribe();
        loop {
            let now = *state.borrow_and_update();
            match now {
                State::Connected => return Ok(()),
                State::Closed => return Err(NotReady::Closed),
                State::Disconnected => {}
                State::Lost => {
                    self.heal().await?;
                    continue;
                }
            }
            if state.changed().await.is_err() {
                return Err(NotReady::Closed);
            }
        }
    }

    async fn heal(self: &Arc<Self>) -> Result<(), NotReady> {
        let _one = self.healing.lock().await;
        if self.state() != State::Lost {
            return Ok(());
        }
        let reached = reach(&self.settings).await.map_err(NotReady::Unreachable)?;
        let (instance, transport) = begin(&self.settings, reached).await.map_err(NotReady::Unreachable)?;
        *self.instance() = instance;
        let was_lost = self.state.send_if_modified(|state| {
            let was_lost = *state == State::Lost;
            if was_lost {
                *state = State::Connected;
            }
            was_lost
        });
        if was_lost {
            tokio::spawn(keep(Arc::downgrade(self), transport));
        }
        Ok(())
    }
}
