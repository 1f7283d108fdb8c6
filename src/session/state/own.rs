//! Variables that belong to bash or to us, and what a fresh shell has.

/// Whether the variable says something about one shell, or one command, and never lasts.
pub(super) fn is_own(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(|name| OWN.binary_search(&name).is_ok())
}

/// In order. PWD stands for the folder, which is kept for itself; what getopts has read of a word cannot be kept, so that OPTIND
/// is not either; the descriptors of a coprocess are closed.
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

/// What a fresh shell sets itself, whatever its environment; with the value, where that is the same everywhere.
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
