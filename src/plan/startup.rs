//! What the shell of a command reads before it, where it is not to be a plain one, and what it does at its end.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use super::waiting::ROOM;

/// What brings a shell to a state; nobody sees what this prints or traces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Boot {
    /// Read first.
    pub early: Arc<[u8]>,
    /// What every command after it would feel, such as traps: the very last before the command.
    pub late: Arc<[u8]>,
}

impl Boot {
    /// All of it, as far as it is text.
    pub fn text(&self) -> Cow<'_, str> {
        if self.late.is_empty() {
            return String::from_utf8_lossy(&self.early);
        }
        Cow::Owned([&self.early, &self.late].map(|part| String::from_utf8_lossy(part)).concat())
    }
}

/// What makes a shell more than a plain one.
#[derive(Debug, Clone, Default)]
pub struct Startup {
    /// Brings it to a state. Shells with the same can take one another's commands.
    pub boot: Boot,
    /// Variables that only this command has; `None` is one that it has not.
    pub given: Vec<(String, Option<String>)>,
    /// What it runs when it ends.
    pub at_exit: Option<String>,
    /// A line that follows the command.
    pub tail: Option<String>,
}

impl Startup {
    /// Whether it writes its state down at the end.
    pub fn saves(&self) -> bool {
        self.at_exit.is_some() || self.tail.is_some()
    }
}

/// What a shell reads last before its command: takes away what tells that it has waited.
///
/// BASH_EXECUTION_STRING is not set for a command that would not fit into a waiting shell: it has it already.
pub fn prologue(command: &str, startup: Option<&Startup>) -> Vec<u8> {
    let mut told = String::from("\\builtin unset BASH_ENV\nSECONDS=0\n");
    if command.len() <= ROOM {
        let _ = writeln!(told, "BASH_EXECUTION_STRING={}", quoted(command));
    }
    if let Some(startup) = startup {
        for (name, value) in &startup.given {
            let _ = match value {
                Some(value) => writeln!(told, "\\builtin export {name}={}", quoted(value)),
                None => writeln!(told, "\\builtin unset -v {name}"),
            };
        }
        if let Some(code) = &startup.at_exit {
            let _ = writeln!(told, "\\builtin trap {} EXIT", quoted(code));
        }
    }
    // What stands last sets `$_`.
    told += "\\builtin : bash\n";
    told.into_bytes()
}

/// What BASH_ENV names where a shell reads these scripts first. Nobody sees what they print or trace, and what they define
/// is not there yet when this is parsed. `own`: the values of BASH_ENV and POSIXLY_CORRECT that its environment has, which do
/// at the end what they do when a plain shell starts.
pub fn boot_script(scripts: &[&Path], late: &[u8], own: [Option<Vec<u8>>; 2]) -> Vec<u8> {
    let mut script = with_late(format!("{{ {}\\builtin : bash; }} >/dev/null 2>&1\n", sourced(scripts)), late);
    let (name, value, then) = match own {
        [_, Some(value)] => ("POSIXLY_CORRECT", value, ""),
        [Some(value), None] => ("BASH_ENV", value, "\\builtin eval \"\\\\builtin . \\\"$BASH_ENV\\\"\"\n"),
        [None, None] => return script,
    };
    let set = format!("\\builtin export {name}={}\n{then}", quoted(&String::from_utf8_lossy(&value)));
    script.extend_from_slice(set.as_bytes());
    script
}

/// The same of a shell that then waits: it says so at `ready`, and reads on at `told`.
pub fn waiting_script(scripts: &[&Path], late: &[u8], told: &Path, ready: &Path) -> Vec<u8> {
    let [told, ready] = [told, ready].map(|path| quoted(&path.to_string_lossy()));
    let wait = format!("\\builtin printf . >|{ready}; \\builtin . /dev/stdin; \\builtin : bash;");
    with_late(format!("{{ {}{wait} }} <{told} >/dev/null 2>&1\n", sourced(scripts)), late)
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

fn sourced(scripts: &[&Path]) -> String {
    scripts.iter().map(|script| format!("\\builtin . {}; ", quoted(&script.to_string_lossy()))).collect()
}

/// A text as one word of a script.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
