//! Why nothing could be done.

use serde::{Deserialize, Serialize};

use confine::Missing;
use runner::error::Error;

/// Why nothing could be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The stable code.
    pub code: String,
    /// The problem, the value, and a remedy.
    pub message: String,
    /// The error of the system (`EAGAIN`), if there is one.
    pub errno: Option<String>,
    /// The parts of a confinement that cannot be held.
    pub missing: Vec<Missing>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (code, message, errno) = (error.code().to_owned(), error.to_string(), error.errno());
        let missing = if let Error::Confinement(missing) = error { missing } else { Vec::new() };
        Self { code, message, errno, missing }
    }
}
