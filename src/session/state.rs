//! The state of a shell: dumped by bash at the end of a command, read here, and written as the bash code that brings a fresh
//! shell to it.

mod dump;
mod entries;
mod functions;
mod given;
mod options;
mod own;
mod quoting;
mod restore;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use entries::{Value, Variable};
use functions::Function;
use options::Options;

/// Bash code, sourced as `. FILE CODE [tail]` at the end of a command: reports the code and the folder, each ended by a NUL, to the path `code` (not with `tail`), dumps
/// the shell's state to the path `out`, and returns CODE. Paths are written as they are: they hold no signs that need quotes.
pub fn save_script(out: &str, code: &str) -> String {
    let lines = include_str!("save.sh").lines().filter(|line| !line.starts_with('#'));
    let script: String = lines.flat_map(|line| [line, "\n"]).collect();
    script.replace("@OUT@", out).replace("@CODE@", code)
}

/// The command that sources the save script `file` and adds to `out` what cannot be seen from within it: `.` hides the DEBUG trap
/// of the shell that calls it. It prints nothing, and has the status of the command before it.
///
/// With `tail` it is a line that follows a command, in which a status other than 0 fires neither ERR nor `set -e` again; without,
/// it is what an EXIT trap does.
pub fn call_save(file: &str, out: &str, tail: bool) -> String {
    if tail {
        // `$?` is expanded before eval runs anything, so that both calls get the status of the command.
        let call = format!("\\\\builtin . {file} $?");
        format!(
            "{{ \\builtin eval \"{call} tail && \\\\builtin :; \\\\builtin trap -p DEBUG >>{out}; {call} back && \\\\builtin :\" && \\builtin :; }} >/dev/null 2>&1"
        )
    } else {
        format!("{{ \\builtin . {file} \"$?\"; \\builtin trap -p DEBUG >>{out}; }} >/dev/null 2>&1")
    }
}

/// What lasts from one command of a session to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Whether it is all of a shell's state: what it does not name is not there. Else it only adds, as a snapshot does.
    whole: bool,
    cwd: Vec<u8>,
    /// The directory stack below the folder itself, from the top.
    stack: Vec<Vec<u8>>,
    umask: Vec<u8>,
    options: Options,
    aliases: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The commands of traps by the names of their signals; EXIT is never among them.
    traps: BTreeMap<Vec<u8>, Vec<u8>>,
    functions: BTreeMap<Vec<u8>, Function>,
    variables: BTreeMap<Vec<u8>, Variable>,
    /// Variables that are as the environment says, whatever that is.
    inherited: BTreeSet<Vec<u8>>,
    /// The shell ended within a function, where these traps cannot be seen: they are as they were.
    hidden_traps: BTreeSet<Vec<u8>>,
}

impl State {
    /// Reads a dump; `None` when it is cut short or damaged.
    pub fn parse(dump: &[u8]) -> Option<Self> {
        dump::parse(dump)
    }

    /// The folder, as the shell calls it.
    pub fn cwd(&self) -> &[u8] {
        &self.cwd
    }

    /// The same in another folder.
    pub fn in_folder(&self, folder: &[u8]) -> Self {
        Self { cwd: folder.to_vec(), ..self.clone() }
    }

    /// Whether a function or alias mentions the word trap, and may replace the EXIT trap of a shell that calls it.
    pub fn mentions_trap(&self) -> bool {
        let texts = self.functions.values().map(|function| &function.text).chain(self.aliases.values());
        texts.into_iter().any(|text| super::text::has_word_trap(text))
    }

    /// Aliases, functions, options and PATH alone, without the options that an interactive shell has for its person or that
    /// would change how the commands of others end.
    pub fn for_snapshot(&self) -> Self {
        Self {
            options: self.options.for_snapshot(),
            aliases: self.aliases.clone(),
            functions: self.functions.clone(),
            variables: self
                .variables
                .get_key_value(&b"PATH"[..])
                .map(|(name, path)| (name.clone(), path.clone()))
                .into_iter()
                .collect(),
            whole: false,
            cwd: Vec::new(),
            stack: Vec::new(),
            umask: Vec::new(),
            traps: BTreeMap::new(),
            inherited: BTreeSet::new(),
            hidden_traps: BTreeSet::new(),
        }
    }

    /// The variable's value, where it is exported and neither list nor reference.
    fn exported(&self, name: &[u8]) -> Option<&[u8]> {
        match self.variables.get(name) {
            Some(Variable { flags, value: Value::Text(text) }) if flags.contains('x') && !flags.contains('n') => {
                Some(text)
            }
            _ => None,
        }
    }
}
