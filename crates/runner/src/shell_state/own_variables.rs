//! Variables that belong to bash or to agent-bash, and variables of a fresh shell.

/// Returns whether the variable belongs to one shell or one command, and never lasts.
pub(super) fn is_own(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(|name| OWN.binary_search(&name).is_ok())
}

/// Sorted. PWD is the directory, which is kept separately. The position of getopts within a word cannot be kept, so
/// OPTIND is not kept either. The descriptors of a coprocess are closed.
const OWN: &[&str] = &[
    "AGENT_BASH_ID",
    "BASH",
    "BASHOPTS",
    "BASHPID",
    "BASH_ALIASES",
    "BASH_ARGC",
    "BASH_ARGV",
    "BASH_ARGV0",
    "BASH_CMDS",
    "BASH_COMMAND",
    "BASH_ENV",
    "BASH_EXECUTION_STRING",
    "BASH_LINENO",
    "BASH_MONOSECONDS",
    "BASH_REMATCH",
    "BASH_SOURCE",
    "BASH_SUBSHELL",
    "BASH_TRAPSIG",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "BASH_XTRACEFD",
    "COMP_WORDBREAKS",
    "COPROC",
    "COPROC_PID",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "FUNCNAME",
    "GROUPS",
    "HISTCMD",
    "LINENO",
    "OPTIND",
    "PIPESTATUS",
    "PPID",
    "PWD",
    "RANDOM",
    "SECONDS",
    "SHELLOPTS",
    "SHLVL",
    "SRANDOM",
    "UID",
    "_",
];

/// Variables that a fresh shell sets itself, whatever its environment. With the value, if it is the same everywhere.
pub(super) const FRESH: &[(&str, Option<&str>)] = &[
    ("BASH_LOADABLES_PATH", None),
    ("HOSTNAME", None),
    ("HOSTTYPE", None),
    ("IFS", Some(" \t\n")),
    ("MACHTYPE", None),
    ("OLDPWD", None),
    ("OPTERR", Some("1")),
    ("OSTYPE", None),
    ("PATH", None),
    ("PS4", Some("+ ")),
    ("SHELL", None),
    ("TERM", None),
];

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_in_order() {
        assert!(super::OWN.is_sorted());
    }
}
