//! `mode`: the kind of work.

use std::time::Duration;

use serde::Deserialize;

use crate::registry::TASK_LIMIT;

/// `mode`: sets the time limit, and whether the command starts in the background.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CommandMode {
    /// For most commands.
    #[default]
    Default,
    /// For builds and tests.
    Slow,
    /// The command is a task from its start.
    Background,
}

impl CommandMode {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Default, Self::Slow, Self::Background];

    /// Returns the public name of the mode.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Slow => "slow",
            Self::Background => "background",
        }
    }

    /// Returns the time limit of a command in this mode.
    pub const fn limit(self) -> Duration {
        match self {
            Self::Default => Duration::from_secs(30),
            Self::Slow => Duration::from_secs(15 * 60),
            Self::Background => TASK_LIMIT,
        }
    }
}
