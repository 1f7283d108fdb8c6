//! The command itself: `command`, `args`, `cwd`, and the limits of a command in a terminal.

use super::error::RequestError;
use super::raw_options::RawOptions;
use super::time_options::TimeRule;

/// The longest argument that a program can be given, bytes.
pub const MAX_ARGUMENT: usize = 131_071;
/// The longest command, bytes.
pub const MAX_COMMAND: usize = 64 * 1024 * 1024;

/// Checks the input of the shell.
///
/// # Errors
/// A [`RequestError`] that names the part that no shell can be given.
pub fn check_command(raw: &RawOptions) -> Result<(), RequestError> {
    if raw.command.contains('\0') {
        return Err(RequestError::NulInCommand);
    }
    if raw.command.len() > MAX_COMMAND {
        return Err(RequestError::CommandTooLong { length: raw.command.len(), most: MAX_COMMAND });
    }
    if let Some(argument) = raw.args.iter().find(|argument| argument.contains('\0')) {
        return Err(RequestError::Nul { option: "args", value: argument.clone() });
    }
    if raw.cwd.contains('\0') {
        return Err(RequestError::Nul { option: "cwd", value: raw.cwd.clone() });
    }
    Ok(())
}

/// Checks the options that exclude a terminal.
///
/// # Errors
/// [`RequestError::TaskInTerminal`], [`RequestError::StdinInTerminal`]
pub fn check_terminal(raw: &RawOptions, place: TimeRule) -> Result<(), RequestError> {
    if raw.terminal.is_none() {
        return Ok(());
    }
    if place == TimeRule::Background {
        return Err(RequestError::TaskInTerminal);
    }
    if raw.stdin.is_some() {
        return Err(RequestError::StdinInTerminal);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pty::CommandTerminal;
    use sys::TerminalSize;

    #[test]
    fn a_nul_is_refused_wherever_it_is() {
        let raw = |command: &str, argument: &str, cwd: &str| RawOptions {
            command: command.into(),
            args: vec!["plain".into(), argument.into()],
            cwd: cwd.into(),
            ..RawOptions::default()
        };
        for (raw, message) in [
            (raw("a\0b", "", "/"), "the command holds a NUL character, which no shell can be given"),
            (raw("a", "x\0", "/"), "args: \"x\\0\" holds a NUL character"),
            (raw("a", "", "/\0"), "cwd: \"/\\0\" holds a NUL character"),
        ] {
            assert_eq!(check_command(&raw).expect_err("refused").to_string(), message);
        }
        assert!(check_command(&raw("a", "b", "/")).is_ok());
    }

    #[test]
    fn the_longest_command_is_valid_and_one_byte_more_is_not() {
        let raw = |length| RawOptions { command: "x".repeat(length), ..RawOptions::default() };
        assert!(check_command(&raw(MAX_COMMAND)).is_ok());
        let message = check_command(&raw(MAX_COMMAND + 1)).expect_err("too long").to_string();
        assert_eq!(message, "the command has 67108865 bytes; at most 64 MiB can be run");
    }

    #[test]
    fn a_command_in_a_terminal_is_no_task_and_has_no_other_input() {
        let terminal = || Some(CommandTerminal::new(TerminalSize { cols: 80, rows: 24 }));
        let typed = RawOptions { terminal: terminal(), ..RawOptions::default() };
        assert!(check_terminal(&typed, TimeRule::Terminal).is_ok());
        let message = check_terminal(&typed, TimeRule::Background).expect_err("refused").to_string();
        assert_eq!(message, "a command in a terminal: a task has none");
        let fed = RawOptions { terminal: terminal(), stdin: Some(Vec::new()), ..RawOptions::default() };
        let message = check_terminal(&fed, TimeRule::Terminal).expect_err("refused").to_string();
        assert_eq!(message, "a command in a terminal: what it reads is typed: use write instead of stdin");
        let piped = RawOptions { stdin: Some(Vec::new()), ..RawOptions::default() };
        assert!(check_terminal(&piped, TimeRule::Background).is_ok(), "without a terminal both are fine");
    }
}
