//! Programs whose exit code 1 is an answer: «no», not a failure.

/// Searches and comparisons. `pkill` answers that nothing matched.
const ANSWERS: [&str; 27] = [
    "[", "ack", "ag", "bzgrep", "cmp", "diff", "egrep", "expr", "fgrep", "fuser", "grep", "killall", "lsof", "pgrep",
    "pidof", "pkill", "rg", "sdiff", "test", "ugrep", "which", "xzgrep", "zcmp", "zdiff", "zegrep", "zgrep",
    "zstdgrep",
];

/// Directories of the system's programs.
const DIRECTORIES: [&str; 4] = ["/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"];

/// Subcommands of git that answer, each with an option that makes it so. Empty: it always answers.
const GIT: [(&str, &str); 10] = [
    ("diff", "--quiet"),
    ("diff", "--exit-code"),
    ("diff", "--no-index"),
    ("diff-index", "--quiet"),
    ("diff-files", "--quiet"),
    ("grep", ""),
    ("merge-base", "--is-ancestor"),
    ("show-ref", ""),
    ("check-ignore", ""),
    ("config", "--get"),
];

/// Returns whether this exit code of a program is an answer.
pub fn is_answer<'w>(words: impl IntoIterator<Item = &'w str>, code: i32) -> bool {
    let mut words = words.into_iter();
    let Some(program) = words.next().filter(|_| code == 1) else { return false };
    // `script/test` is a program of its own.
    let name = DIRECTORIES.iter().find_map(|directory| program.strip_prefix(directory)).unwrap_or(program);
    let words: Vec<_> = words.collect();
    match name {
        "git" => GIT.iter().any(|(subcommand, option)| {
            words.iter().any(|word| word == subcommand) && (option.is_empty() || words.contains(option))
        }),
        "jq" => words.iter().any(|word| ["-e", "--exit-status"].contains(word)),
        _ => ANSWERS.contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_code_1_of_a_search_or_a_comparison_is_an_answer() {
        for (command, code, answer) in [
            ("grep x f", 1, true),
            ("/usr/bin/rg x", 1, true),
            ("grep x f", 2, false),
            ("diff a b", 1, true),
            ("git diff --quiet", 1, true),
            ("git -C d diff --exit-code", 1, true),
            ("git diff", 1, false),
            ("git push", 1, false),
            ("jq -e .a", 1, true),
            ("jq .a", 1, false),
            ("npm test", 1, false),
            ("[ a = b ]", 1, true),
            ("script/test", 1, false),
            ("./diff", 1, false),
        ] {
            assert_eq!(is_answer(command.split(' '), code), answer, "{command} {code}");
        }
    }
}
