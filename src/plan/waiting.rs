//! A shell that is started before its command is known, and what it is told then.
//!
//! bash reads the file that BASH_ENV names before it looks at its command. Here that is a script which says that it is read,
//! and then reads on from a pipe, so that bash waits there, started up completely. Its command is written over the blanks among
//! its arguments that it was started with, and what comes through the pipe takes away what a script could see of all this:
//! from there on it is a plain `bash -c`.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Boot, Environment, Plan};

/// Room for a command among the arguments of a waiting shell, bytes.
pub const ROOM: usize = 8 * 1024;
/// What fits into a pipe that nobody reads yet, bytes.
const MOST_TOLD: usize = 30 * 1024;

/// A kind of shell that can wait: commands of one kind may take one another's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// The plan without what only one command has: the command itself, its mark, its time.
    pub plan: Plan,
    /// What it reads before it waits.
    pub boot: Boot,
}

impl Kind {
    /// The same in another folder, that begins with what `boot` makes of its environment.
    #[must_use]
    pub fn with(&self, folder: &[u8], boot: impl FnOnce(&[u8]) -> Boot) -> Self {
        let mut plan = self.plan.clone();
        let entries = self.plan.env.split_inclusive(|byte| *byte == 0);
        plan.env = entries.filter(|entry| !entry.starts_with(b"PWD=")).flatten().copied().collect();
        for part in [b"PWD=", folder, b"\0"] {
            plan.env.extend_from_slice(part);
        }
        plan.cwd = folder.to_vec();
        let boot = boot(&plan.env);
        Self { plan, boot }
    }
}

/// Whether a shell of this name, with this environment, waits when BASH_ENV tells it to.
pub fn can_wait(name: &str, environment: &Environment) -> bool {
    name == "bash" && environment.plain_start
}

/// Whether this command, with this prologue, fits into a waiting shell.
pub fn fits(command: &str, prologue: &[u8]) -> bool {
    command.len() <= ROOM && prologue.len() <= MOST_TOLD
}

/// Whether a command may look at what differs after all: PIPESTATUS before its first pipeline has ended, which lists of
/// all variables show too; BASH_COMMAND after its last; BASH_ARGV and BASH_ARGC, which bash makes when they are first asked for,
/// or when it reads a file; and the arguments and the environment that the process was started with.
pub fn shows_its_start(command: &str) -> bool {
    ["PIPESTATUS", "BASH_COMMAND", "BASH_ARG", "cmdline", "environ"].iter().any(|word| command.contains(word))
        || ["set", "declare", "typeset", "local", "readonly", "compgen"].iter().any(|word| lists(command, word))
}

/// Whether this builtin is called without a name, so that it lists what there is.
fn lists(command: &str, builtin: &str) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'$' | b'=');
    command.match_indices(builtin).any(|(at, _)| {
        let before = command.as_bytes()[..at].last();
        let mut rest = &command.as_bytes()[at + builtin.len()..];
        if before.is_some_and(is_word) || rest.first().is_some_and(is_word) {
            return false;
        }
        // Options alone list, too; those of `set` are what it is usually called for.
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

impl Plan {
    /// Takes a variable out of its environment.
    pub fn take(&mut self, name: &str) -> Option<Vec<u8>> {
        let prefix = format!("{name}=");
        let entry = |entry: &[u8]| entry.strip_prefix(prefix.as_bytes()).map(|value| value[..value.len() - 1].to_vec());
        let value = self.env.split_inclusive(|byte| *byte == 0).find_map(entry)?;
        let rest = self.env.split_inclusive(|byte| *byte == 0).filter(|entry| !entry.starts_with(prefix.as_bytes()));
        self.env = rest.flatten().copied().collect();
        Some(value)
    }

    /// Has bash read this file before its command.
    pub fn read_first(&mut self, file: &Path) {
        for part in [b"BASH_ENV=", file.as_os_str().as_bytes(), b"\0"] {
            self.env.extend_from_slice(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::prologue;

    #[test]
    fn what_lists_all_variables_would_show_that_the_shell_has_waited() {
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
    fn a_command_is_told_as_one_word() {
        let told = String::from_utf8(prologue("echo 'a'\n", None)).unwrap();
        assert!(told.contains("BASH_EXECUTION_STRING='echo '\\''a'\\''\n'\n"), "{told}");
        for (command, fitting) in [("x".repeat(ROOM + 1), false), ("x".repeat(ROOM), true), ("'".repeat(ROOM), false)] {
            assert_eq!(fits(&command, &prologue(&command, None)), fitting);
        }
    }
}
