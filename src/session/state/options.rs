//! What `set -o` and `shopt` say.

use std::collections::BTreeMap;

/// Options by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// Of `set -o`.
    pub set: BTreeMap<String, bool>,
    /// Of `shopt`.
    pub shopt: BTreeMap<String, bool>,
}

/// On in a fresh shell of every version that knows them.
const ON: [&str; 12] = [
    "braceexpand",
    "cmdhist",
    "complete_fullquote",
    "extquote",
    "force_fignore",
    "hashall",
    "hostcomplete",
    "interactive-comments",
    "interactive_comments",
    "progcomp",
    "promptvars",
    "sourcepath",
];

/// On in some versions, off in others.
const VARIES: [&str; 5] =
    ["checkwinsize", "globasciiranges", "globskipdots", "patsub_replacement", "bash_source_fullpath"];

/// Cannot be set, must not be, or are set last.
const NEVER: [&str; 5] = ["login_shell", "restricted_shell", "noexec", "onecmd", "privileged"];
const LATE: [&str; 6] = ["errexit", "keyword", "nounset", "posix", "verbose", "xtrace"];
/// Those of a person at a terminal, or which decide how commands end.
const NOT_OF_SNAPSHOTS: [&str; 9] =
    ["allexport", "emacs", "errtrace", "functrace", "histexpand", "history", "monitor", "notify", "vi"];

impl Options {
    /// Reads the lines of `set +o`, then those of `shopt -p`.
    pub fn parse(lines: &[u8]) -> Option<Self> {
        let mut options = Self::default();
        for line in std::str::from_utf8(lines).ok()?.lines() {
            let mut words = line.split(' ');
            let (command, sign, name) = (words.next()?, words.next()?, words.next());
            match (command, sign, name) {
                ("set", "-o" | "+o", Some(name)) => options.set.insert(name.to_owned(), sign == "-o"),
                ("shopt", "-s" | "-u", Some(name)) => options.shopt.insert(name.to_owned(), sign == "-s"),
                _ => return None,
            };
        }
        options.set.retain(|name, _| !NEVER.contains(&name.as_str()));
        options.shopt.retain(|name, _| !NEVER.contains(&name.as_str()));
        Some(options)
    }

    pub fn is_set(&self, name: &str) -> bool {
        self.set.get(name).copied().unwrap_or(false)
    }

    pub fn for_snapshot(&self) -> Self {
        let mut options = self.clone();
        options.set.retain(|name, _| !NOT_OF_SNAPSHOTS.contains(&name.as_str()) && !LATE.contains(&name.as_str()));
        options
    }

    /// Adds the commands that set them, as far as a fresh shell differs; `all` where it may have others than usual.
    pub fn push_early(&self, code: &mut Vec<u8>, all: bool) {
        let all = all || self.is_set("posix");
        if self.is_set("posix") {
            // Of what it brings along, the rest is set by what follows.
            code.extend_from_slice(b"builtin set -o posix\n");
        }
        for (options, on, off) in
            [(&self.set, "builtin set -o ", "builtin set +o "), (&self.shopt, "builtin shopt -s ", "builtin shopt -u ")]
        {
            for (name, value) in options {
                let usual = ON.contains(&name.as_str()) == *value && !VARIES.contains(&name.as_str());
                // Turning an old version's ways off sets BASH_COMPAT.
                let old = name.starts_with("compat") && !*value;
                if !LATE.contains(&name.as_str()) && !old && (all || !usual) {
                    push_line(code, if *value { on } else { off }, name);
                }
            }
        }
    }

    /// Adds those that every command after them feels.
    pub fn push_late(&self, code: &mut Vec<u8>) {
        for name in LATE {
            if name != "posix" && self.is_set(name) {
                push_line(code, "builtin set -o ", name);
            }
        }
    }
}

fn push_line(code: &mut Vec<u8>, command: &str, name: &str) {
    code.extend_from_slice(command.as_bytes());
    code.extend_from_slice(name.as_bytes());
    code.push(b'\n');
}
