//! Why a target cannot be used.

use serde::Serialize;

/// An address with an impossible name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{option} {why}: {value:?}")]
pub struct InvalidAddress {
    /// The option.
    pub option: String,
    /// Its value.
    pub value: String,
    /// What is wrong with it.
    pub why: &'static str,
}

/// Why a target could not be reached, or is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetErrorReason {
    /// No transport, route or container.
    Unreachable,
    /// The target knows the user not.
    Auth,
    /// The target is not the one that the user knows.
    HostKey,
    /// The login shell did not run our text.
    Shell,
    /// It took too long.
    Timeout,
    /// No place to start a program from.
    NoPlace,
    /// The program is not installed on this machine.
    NoProgram,
    /// The program that is installed there is missing, or another one.
    Hash,
    /// There is no program for this system.
    Unsupported,
    /// What answered is no program of ours.
    Protocol,
    /// The target was lost or closed before the call began.
    Lost,
}

/// A target that could not be reached. Nothing was started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TargetError {
    /// The name of the target.
    pub target: String,
    /// The reason.
    pub reason: TargetErrorReason,
    /// What went wrong, with the target, and a remedy.
    pub message: String,
    /// What the transport and the login shell said, cleaned, at most 4 KiB.
    pub stderr: String,
}

impl TargetError {
    pub(super) fn new(id: &str, reason: TargetErrorReason, message: &str, stderr: String) -> Self {
        let hint = match reason {
            TargetErrorReason::Auth => "; check the user and the keys, which must work without a question",
            TargetErrorReason::HostKey => "; check the host's key in known_hosts",
            TargetErrorReason::Shell => "; the login shell must run commands without printing 64 KiB or asking",
            TargetErrorReason::Timeout => "; see `connectTimeoutMs`",
            _ => "",
        };
        let target = id.to_owned();
        Self {
            target,
            reason,
            message: format!("{id} cannot be reached, and nothing was started: {message}{hint}"),
            stderr,
        }
    }

    /// Returns the error of a call that had not begun when its target was lost.
    pub(super) fn lost(id: &str, why: &str) -> Self {
        let message = format!("{id} is lost, and nothing was started: {why}");
        Self { target: id.to_owned(), reason: TargetErrorReason::Lost, message, stderr: String::new() }
    }
}
