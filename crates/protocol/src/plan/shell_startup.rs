//! The code that a shell runs before its command and at its exit, unless it is a plain shell.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::inherited_descriptor::{InheritedDescriptor, closing_code};

/// Room for a command among the arguments of a warm shell, bytes.
pub const ROOM: usize = 8 * 1024;

/// The code that restores a shell state. Its output and traces are hidden.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellBootCode {
    /// Code that runs first.
    #[serde(with = "super::bytes")]
    pub early: Arc<[u8]>,
    /// Code that affects every later command, such as traps. It runs last, right before the command.
    #[serde(with = "super::bytes")]
    pub late: Arc<[u8]>,
}

impl ShellBootCode {
    /// Returns all code, as far as it is text.
    pub fn text(&self) -> Cow<'_, str> {
        if self.late.is_empty() {
            return String::from_utf8_lossy(&self.early);
        }
        Cow::Owned([&self.early, &self.late].map(|part| String::from_utf8_lossy(part)).concat())
    }
}

/// The additions to a plain shell.
#[derive(Debug, Clone, Default)]
pub struct ShellStartup {
    /// Code that sets up the shell. Shells with equal code are interchangeable.
    pub boot: ShellBootCode,
    /// Variables that only this command has. `None` removes a variable.
    pub given: Vec<(String, Option<String>)>,
    /// The code of the command's EXIT trap.
    pub at_exit: Option<String>,
    /// A line that follows the command.
    pub tail: Option<String>,
}

impl ShellStartup {
    /// Returns whether the shell writes its state at the end.
    pub fn saves_state(&self) -> bool {
        self.at_exit.is_some() || self.tail.is_some()
    }
}

/// Returns the code that a warm shell reads last before its command. It removes all traces of the early start.
///
/// BASH_EXECUTION_STRING is not set for a command that does not fit into a warm shell: its shell has the variable
/// already.
pub fn prologue(command: &str, startup: Option<&ShellStartup>) -> Vec<u8> {
    let mut told = String::from("\\builtin unset BASH_ENV\nSECONDS=0\n");
    if command.len() <= ROOM {
        let _ = writeln!(told, "BASH_EXECUTION_STRING={}", shell_quoted(command));
    }
    if let Some(startup) = startup {
        for (name, value) in &startup.given {
            let _ = match value {
                Some(value) => writeln!(told, "\\builtin export {name}={}", shell_quoted(value)),
                None => writeln!(told, "\\builtin unset -v {name}"),
            };
        }
        if let Some(code) = &startup.at_exit {
            // bash catches SIGTERM while it has an EXIT trap. A SIGTERM that arrives just before bash waits for a
            // program would then take effect only after that program. The two other lines restore the disposition of
            // SIGTERM.
            let _ = writeln!(
                told,
                "\\builtin trap : TERM\n\\builtin trap {} EXIT\n\\builtin trap - TERM",
                shell_quoted(code)
            );
        }
    }
    // The last command sets `$_`.
    told += "\\builtin : bash\n";
    told.into_bytes()
}

/// Returns the file for BASH_ENV of a shell that reads these scripts first. Their output and traces are hidden, and
/// this code is parsed before they define anything. `own`: the values of BASH_ENV and POSIXLY_CORRECT in the command's
/// environment, which take effect at the end as they do when a plain shell starts. `closes`: descriptors that the
/// command must not find.
pub fn boot_script(
    scripts: &[&Path],
    late: &[u8],
    own: [Option<Vec<u8>>; 2],
    closes: &[InheritedDescriptor],
) -> Vec<u8> {
    let first = [source_commands(scripts), closing_code(closes)].concat();
    let mut script = with_late(format!("{{ {first}\\builtin : bash; }} >/dev/null 2>&1\n"), late);
    let (name, value, then) = match own {
        [_, Some(value)] => ("POSIXLY_CORRECT", value, ""),
        [Some(value), None] => ("BASH_ENV", value, "\\builtin eval \"\\\\builtin . \\\"$BASH_ENV\\\"\"\n"),
        [None, None] => return script,
    };
    let set = format!("\\builtin export {name}={}\n{then}", shell_quoted(&String::from_utf8_lossy(&value)));
    script.extend_from_slice(set.as_bytes());
    script
}

/// Like [`boot_script`], for a shell that then waits: it reports that at `ready`, and reads on at `told`.
pub fn warm_script(
    scripts: &[&Path],
    late: &[u8],
    told: &Path,
    ready: &Path,
    closes: &[InheritedDescriptor],
) -> Vec<u8> {
    let [told, ready] = [told, ready].map(|path| shell_quoted(&path.to_string_lossy()));
    let closing = closing_code(closes);
    let wait = format!("\\builtin printf . >|{ready}; {closing}\\builtin . /dev/stdin; \\builtin : bash;");
    with_late(format!("{{ {}{wait} }} <{told} >/dev/null 2>&1\n", source_commands(scripts)), late)
}

fn with_late(script: String, late: &[u8]) -> Vec<u8> {
    let mut script = script.into_bytes();
    if !late.is_empty() {
        for part in [b"{ ", late, b"\n} >/dev/null 2>&1\n"] {
            script.extend_from_slice(part);
        }
    }
    script
}

fn source_commands(scripts: &[&Path]) -> String {
    scripts.iter().map(|script| format!("\\builtin . {}; ", shell_quoted(&script.to_string_lossy()))).collect()
}

/// Returns a text as one word of a script.
pub fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
