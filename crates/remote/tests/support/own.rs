//! The program that the tests drive.

/// The program of this build, or the one that a variable names while the tests are compiled: the static one.
pub const PROGRAM: &str = match option_env!("AGENT_BASH_HOST_PROGRAM") {
    Some(path) => path,
    None => env!("CARGO_BIN_EXE_agent-bash-host"),
};
