//! A warm shell, which is started before its command is known.
//!
//! bash reads the file that BASH_ENV names before it parses its command. For a warm shell this is a script that reports
//! that bash has started up, then reads from a pipe. The command is written over blanks in the arguments of the shell,
//! to which bash keeps a pointer and of which it makes no copy. The script in the pipe removes all traces of this. From
//! there on the shell is a plain `bash -c`.
//!
//! - **The addon hands over the command itself.** A round trip to the shim would cost the time that is gained. The shim
//!   is informed afterwards. If it has already seen the exit by then, it keeps the exit status for the command.
//! - **A host may die between the two.** A shim whose host is gone therefore kills its warm shell with all descendants,
//!   as if the shell had a command.
//! - **The shell is checked twice:** its kind when it is chosen, and directory and program, by device and inode, when
//!   it receives the command.
//! - **A command that was not begun was not run.** If a warm shell has exited or cannot be written to, it is stale, and
//!   the command starts cold.
//! - **A warm shell starts one millisecond after a command exits.** Without pauses it would only compete with the next
//!   command.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::shell_startup::{ROOM, ShellBootCode};
use super::{ChildPlan, CommandEnvironment};

/// The longest script for the pipe, bytes. The script must fit into the pipe before the shell reads it.
const MAX_PROLOGUE: usize = 30 * 1024;

/// A kind of warm shell. Any warm shell of a kind can run any command of that kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmShellKind {
    /// The plan without the parts that belong to one command: the command itself, its mark, its time.
    pub plan: ChildPlan,
    /// The state that the shell restores before it waits for its command.
    pub boot: ShellBootCode,
    /// Whether the changes of its commands are recorded. Its start is not.
    pub recorded: bool,
}

impl WarmShellKind {
    /// Returns this kind in another directory, with the state that `boot` returns for its environment.
    #[must_use]
    pub fn in_directory(&self, directory: &[u8], boot: impl FnOnce(&[u8]) -> ShellBootCode) -> Self {
        let mut plan = self.plan.clone();
        let entries = self.plan.env.split_inclusive(|byte| *byte == 0);
        plan.env = entries.filter(|entry| !entry.starts_with(b"PWD=")).flatten().copied().collect();
        for part in [b"PWD=", directory, b"\0"] {
            plan.env.extend_from_slice(part);
        }
        plan.cwd = directory.to_vec();
        let boot = boot(&plan.env);
        Self { plan, boot, recorded: self.recorded }
    }
}

/// Returns whether a shell with this name and environment can be warm.
pub fn can_be_warm(name: &str, environment: &CommandEnvironment) -> bool {
    name == "bash" && environment.plain_start
}

/// Returns whether this command, with this prologue, fits into a warm shell.
pub fn fits_warm_shell(command: &str, prologue: &[u8]) -> bool {
    command.len() <= ROOM && prologue.len() <= MAX_PROLOGUE
}

/// Returns whether a command may see the difference between a warm and a cold shell. PIPESTATUS differs before the
/// first pipeline, BASH_COMMAND after the last command. bash creates BASH_ARGV and BASH_ARGC on first use or when it
/// reads a file. Lists of all variables show these, too. `/proc` shows the arguments and the environment that the
/// process was started with.
pub fn shows_its_start(command: &str) -> bool {
    ["PIPESTATUS", "BASH_COMMAND", "BASH_ARG", "cmdline", "environ"].iter().any(|word| command.contains(word))
        || ["set", "declare", "typeset", "local", "readonly", "compgen"]
            .iter()
            .any(|word| lists_variables(command, word))
}

/// Returns whether this builtin is called without a name, so that it lists all variables.
fn lists_variables(command: &str, builtin: &str) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'$' | b'=');
    command.match_indices(builtin).any(|(at, _)| {
        let before = command.as_bytes()[..at].last();
        let mut rest = &command.as_bytes()[at + builtin.len()..];
        if before.is_some_and(is_word) || rest.first().is_some_and(is_word) {
            return false;
        }
        // With options alone these builtins list as well. `set` is usually called to set its options.
        while let [b' ' | b'\t', after @ ..] = rest {
            rest = after;
            if let [b'-' | b'+', option, ..] = rest
                && builtin != "set"
                && option.is_ascii_alphabetic()
            {
                let end = rest.iter().position(|byte| !is_word(byte) && *byte != b'+').unwrap_or(rest.len());
                rest = &rest[end..];
            }
        }
        !rest.first().is_some_and(|byte| is_word(byte) || matches!(byte, b'+' | b'"' | b'\'' | b'{' | b'@' | b'\\'))
    })
}

impl ChildPlan {
    /// Removes a variable from the environment, and returns its value.
    pub fn take_variable(&mut self, name: &str) -> Option<Vec<u8>> {
        let prefix = format!("{name}=");
        let entry = |entry: &[u8]| entry.strip_prefix(prefix.as_bytes()).map(|value| value[..value.len() - 1].to_vec());
        let value = self.env.split_inclusive(|byte| *byte == 0).find_map(entry)?;
        let rest = self.env.split_inclusive(|byte| *byte == 0).filter(|entry| !entry.starts_with(prefix.as_bytes()));
        self.env = rest.flatten().copied().collect();
        Some(value)
    }

    /// Adds a variable that the environment does not have.
    pub fn set_variable(&mut self, name: &str, value: &[u8]) {
        for part in [name.as_bytes(), b"=", value, b"\0"] {
            self.env.extend_from_slice(part);
        }
    }

    /// Makes bash read this file before its command.
    pub fn read_first(&mut self, file: &Path) {
        self.set_variable("BASH_ENV", file.as_os_str().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::prologue;

    #[test]
    fn a_list_of_all_variables_would_show_a_warm_shell() {
        for shows in [
            "set",
            "set|head",
            "set > f",
            "x; set\necho",
            "declare -p",
            "declare",
            "declare -p | sort",
            "typeset -a",
            "(set)",
            "echo ${PIPESTATUS[0]}",
            "cat /proc/$$/cmdline",
            "tr '\\0' '\\n' </proc/self/environ",
            "{ set; }",
            "compgen -v",
            "readonly",
            "readonly -p",
            "declare -a +x",
            "set;echo",
        ] {
            assert!(shows_its_start(shows), "{shows}");
        }
        for plain in [
            "true",
            "set -e",
            "set -euo pipefail; make",
            "set -- a b",
            "declare -A m=([a]=1)",
            "declare x",
            "declare -i n=3",
            "git config set x",
            "npm set x y",
            "reset",
            "offset=1",
            "./set",
            "set +x",
            "local x=1",
            "readonly A=1",
            "declare -p x",
            "cat setup.sh",
            "echo preset",
            "a-set",
            "typeset -f f",
            "set \"$@\"",
        ] {
            assert!(!shows_its_start(plain), "{plain}");
        }
    }

    #[test]
    fn a_command_is_passed_as_one_word() {
        let script = String::from_utf8(prologue("echo 'a'\n", None)).unwrap();
        assert!(script.contains("BASH_EXECUTION_STRING='echo '\\''a'\\''\n'\n"), "{script}");
        for (command, fitting) in [("x".repeat(ROOM + 1), false), ("x".repeat(ROOM), true), ("'".repeat(ROOM), false)] {
            assert_eq!(fits_warm_shell(&command, &prologue(&command, None)), fitting);
        }
    }
}
