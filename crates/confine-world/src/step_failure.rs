//! A step of building a world that failed.

use std::io;

use confine_policy::WorldError;

/// The step and its error.
#[derive(Debug)]
pub(super) struct WorldStepFailure {
    pub step: String,
    pub source: io::Error,
}

impl WorldStepFailure {
    /// Returns the step and its error, in words.
    pub fn describe(&self) -> String {
        format!("{} failed: {}", self.step, self.source)
    }
}

impl From<WorldStepFailure> for WorldError {
    fn from(WorldStepFailure { step, source }: WorldStepFailure) -> Self {
        Self::Step { step, source }
    }
}

/// Names the step of a result.
pub(super) trait StepContext<T> {
    /// Names the step, if it failed.
    fn at_step(self, step: impl FnOnce() -> String) -> Result<T, WorldStepFailure>;
}

impl<T, E: Into<io::Error>> StepContext<T> for Result<T, E> {
    fn at_step(self, step: impl FnOnce() -> String) -> Result<T, WorldStepFailure> {
        self.map_err(|source| WorldStepFailure { step: step(), source: source.into() })
    }
}
