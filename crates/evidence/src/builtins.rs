//! The builtins of bash.

/// Builtins that run commands from elsewhere.
const OPAQUE: [&str; 5] = [".", "eval", "source", "builtin", "command"];

/// The builtins of bash.
const BUILTINS: [&str; 61] = [
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// Returns whether bash runs a command itself.
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.binary_search(&name).is_ok()
}

/// Returns whether a command may run commands whose text is elsewhere.
pub fn is_opaque(name: &str) -> bool {
    OPAQUE.contains(&name)
}

/// Returns whether a builtin starts the program that its words name.
pub fn starts_programs(name: &str) -> bool {
    ["builtin", "command", "exec"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtins_are_sorted_and_are_those_of_bash() {
        assert!(BUILTINS.is_sorted());
        let known = std::process::Command::new("bash").args(["-c", "compgen -b"]).output().expect("bash starts").stdout;
        let known = String::from_utf8(known).expect("names are text");
        assert_eq!(known.lines().filter(|name| !is_builtin(name)).collect::<Vec<_>>(), [""; 0]);
    }
}
