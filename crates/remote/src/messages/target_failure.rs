//! Why nothing could be done.

use std::sync::LazyLock;

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use confine_policy::MissingPart;
use runner::error::RunError;

/// Why nothing could be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFailure {
    /// The stable code, or the name of the system's error (`EACCES`) if a file or a port is refused.
    pub code: String,
    /// The problem, the value, and a remedy.
    pub message: String,
    /// The error of the system (`EAGAIN`), if there is one.
    pub errno: Option<String>,
    /// The parts of a confinement that cannot be held.
    pub missing: Vec<MissingPart>,
}

impl From<RunError> for TargetFailure {
    fn from(error: RunError) -> Self {
        let (code, message, errno) = (error.code().to_owned(), error.to_string(), error.errno());
        let missing = if let RunError::Confinement(missing) = error { missing } else { Vec::new() };
        Self { code, message, errno, missing }
    }
}

/// Returns the name of an error of the system (`EACCES`), if it is one.
pub fn system_code(name: &str) -> Option<&'static str> {
    /// Numbers of errors end here on any system.
    const LAST: i32 = 140;
    static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
        let known = (1..LAST).map(Errno::from_raw).filter(|errno| *errno != Errno::UnknownErrno);
        known.map(|errno| format!("{errno:?}")).collect()
    });
    NAMES.iter().find(|known| *known == name).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_system_are_codes_of_it() {
        for name in ["EACCES", "EISDIR", "ENOTDIR", "ENOSPC", "EROFS", "EDQUOT", "ECONNREFUSED", "ENOTEMPTY"] {
            assert_eq!(system_code(name), Some(name));
        }
        for name in ["", "UnknownErrno", "EVIL", "eacces", "ERR_BASH_SPAWN"] {
            assert_eq!(system_code(name), None);
        }
    }
}
