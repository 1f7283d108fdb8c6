//! The `set -o` and `shopt` options that are on.

use std::collections::BTreeSet;

/// Options that are on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EnabledShellOptions {
    /// Options of `set -o`.
    pub set: BTreeSet<String>,
    /// Options of `shopt`.
    pub shopt: BTreeSet<String>,
}

/// Options that are on in a fresh shell of every version that knows them.
const SET: [&str; 3] = ["braceexpand", "hashall", "interactive-comments"];
const SHOPT: [&str; 9] = [
    "cmdhist",
    "complete_fullquote",
    "extquote",
    "force_fignore",
    "hostcomplete",
    "interactive_comments",
    "progcomp",
    "promptvars",
    "sourcepath",
];
/// Options that are on in some versions, and off in others.
const VARIES: [&str; 5] =
    ["bash_source_fullpath", "checkwinsize", "globasciiranges", "globskipdots", "patsub_replacement"];
/// Options that a variable, posix mode, or agent-bash turns on before functions are read.
const TURNED_ON: [&str; 5] = ["dotglob", "expand_aliases", "extglob", "inherit_errexit", "shift_verbose"];
/// Options that cannot be set, or must not be.
const NEVER: [&str; 5] = ["login_shell", "restricted_shell", "noexec", "onecmd", "privileged"];
/// Options that affect every command after them.
const LATE: [&str; 5] = ["errexit", "keyword", "nounset", "verbose", "xtrace"];
/// Options for a person at a terminal, and options that change how commands run and exit.
const NOT_OF_SNAPSHOTS: [&str; 10] =
    ["allexport", "emacs", "errtrace", "functrace", "histexpand", "history", "monitor", "notify", "posix", "vi"];

impl EnabledShellOptions {
    /// Parses the value of SHELLOPTS, and the output of `shopt -s -p`. BASHOPTS does not follow the changes of posix
    /// mode.
    pub fn parse(lines: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(lines).ok()?.lines();
        let set = names(lines.next()?);
        let shopt = lines.map(|line| line.strip_prefix("shopt -s ")).collect::<Option<Vec<_>>>()?;
        Some(Self { set, shopt: names(&shopt.join(":")) })
    }

    pub fn is_set(&self, name: &str) -> bool {
        self.set.contains(name)
    }

    pub fn for_snapshot(&self) -> Self {
        let mut options = self.clone();
        options.set.retain(|name| !NOT_OF_SNAPSHOTS.contains(&name.as_str()) && !LATE.contains(&name.as_str()));
        options
    }

    /// Adds the commands that set the options that differ from a fresh shell's. Other options may be on because of its
    /// environment.
    pub fn push_early(&self, code: &mut Vec<u8>, given: &Self) {
        let shopt = given.shopt.iter().map(String::as_str).chain(SHOPT).chain(VARIES).chain(TURNED_ON);
        let set = given.set.iter().map(String::as_str).chain(SET);
        let mut newly_set = others(&self.set, &SET);
        // The options that posix mode implies are set by the commands after it.
        newly_set.sort_by_key(|name| *name != "posix");
        for name in newly_set {
            push(code, "builtin set -o ", name);
        }
        for name in missing(set, &self.set) {
            push(code, "builtin set +o ", name);
        }
        push(code, "builtin shopt -s ", &others(&self.shopt, &SHOPT).join(" "));
        // Options that only another version of bash has do not matter.
        push(code, "builtin shopt -u 2>/dev/null ", &missing(shopt, &self.shopt).join(" "));
    }

    /// Adds the options that affect every command after them.
    pub fn push_late(&self, code: &mut Vec<u8>) {
        for name in LATE.iter().filter(|name| self.is_set(name)) {
            push(code, "builtin set -o ", name);
        }
    }
}

/// Returns the names between colons, without options that cannot be set.
pub(super) fn names(list: &str) -> BTreeSet<String> {
    list.split(':').filter(|name| !name.is_empty() && !NEVER.contains(name)).map(str::to_owned).collect()
}

/// Returns the options that are on, without the usual and the late options.
fn others<'a>(on: &'a BTreeSet<String>, usual: &[&str]) -> Vec<&'a str> {
    on.iter().map(String::as_str).filter(|name| !usual.contains(name) && !LATE.contains(name)).collect()
}

/// Returns the options that are not on.
fn missing<'a>(names: impl Iterator<Item = &'a str>, on: &BTreeSet<String>) -> Vec<&'a str> {
    names.filter(|name| !on.contains(*name) && !NEVER.contains(name)).collect()
}

fn push(code: &mut Vec<u8>, command: &str, names: &str) {
    if !names.is_empty() {
        code.extend_from_slice(command.as_bytes());
        code.extend_from_slice(names.as_bytes());
        code.push(b'\n');
    }
}
