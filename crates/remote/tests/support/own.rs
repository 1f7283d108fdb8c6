//! The program that the tests drive, and orders for it.

use remote::{TargetCommand, TargetCommandPlace};

/// The program of this build, or the one that a variable names while the tests are compiled: the static one.
pub const PROGRAM: &str = match option_env!("AGENT_BASH_HOST_PROGRAM") {
    Some(path) => path,
    None => env!("CARGO_BIN_EXE_agent-bash-host"),
};

/// Returns an order for a shell, with these options.
pub fn order(command: &str, options: &str) -> TargetCommand {
    TargetCommand {
        mark: String::new(),
        command: command.into(),
        cwd: "/".into(),
        options: options.into(),
        stdin: None,
        place: TargetCommandPlace::Shell,
        registry: None,
        background: false,
    }
}
