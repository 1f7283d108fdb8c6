//! A step of building a world that failed.

use std::io;

use crate::WorldError;

/// The step and its error.
#[derive(Debug)]
pub(super) struct Failure {
    pub step: String,
    pub source: io::Error,
}

impl Failure {
    /// Returns the step and its error, in words.
    pub fn why(&self) -> String {
        format!("{} failed: {}", self.step, self.source)
    }
}

impl From<Failure> for WorldError {
    fn from(Failure { step, source }: Failure) -> Self {
        Self::Step { step, source }
    }
}

/// Names the step of a result.
pub(super) trait Step<T> {
    /// Names the step, if it failed.
    fn step(self, step: impl FnOnce() -> String) -> Result<T, Failure>;
}

impl<T, E: Into<io::Error>> Step<T> for Result<T, E> {
    fn step(self, step: impl FnOnce() -> String) -> Result<T, Failure> {
        self.map_err(|source| Failure { step: step(), source: source.into() })
    }
}
