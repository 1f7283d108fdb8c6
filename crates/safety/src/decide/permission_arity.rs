//! The number of a command's words that a rule for the command repeats.

use super::rule_matching::{base_name, git_command};
use crate::programs;
use crate::programs::program::PermissionArity;

/// Most words in the path of a subcommand.
const MAX_PATH: usize = 3;

/// Returns how many of a command's first words make a rule for the command, and the kind of the rule.
pub fn permission_arity(argv: &[(&str, bool)]) -> Option<(usize, PermissionArity)> {
    let name = base_name(argv.first()?.0);
    let program = programs::of_any_version(name);
    // Git's own options are skipped. Which options of other programs take a value is unknown, so a rule repeats all
    // words.
    let first = git_command(argv).unwrap_or(1);
    let option = |at: &usize| argv[*at].0.starts_with('-');
    let operands: Vec<&str> =
        (first..argv.len()).filter(|at| !option(at)).take(MAX_PATH).map(|at| argv[at].0).collect();
    let mut arity = program.rule;
    let mut path = String::new();
    for operand in &operands {
        path += if path.is_empty() { "" } else { " " };
        path += operand;
        arity = program.sub_rule(&path).unwrap_or(arity);
    }
    // `docker -H x run` runs a command, with or without options between.
    let runs = |operand: &&str| program.sub_rule(operand) == Some(PermissionArity::Never);
    // With these options find is a wrapper.
    let execs = |(word, _): &(&str, bool)| matches!(*word, "-exec" | "-execdir" | "-ok" | "-okdir");
    if operands.iter().any(runs) || matches!(name, "find" | "gfind") && argv.iter().any(execs) {
        return Some((1, PermissionArity::Never));
    }
    let count = match arity {
        PermissionArity::Exact | PermissionArity::Never => return Some((argv.len(), arity)),
        // `make` alone makes the first target.
        PermissionArity::WordsOrNone(_) if argv.len() == 1 => return Some((1, arity)),
        PermissionArity::Words(1) | PermissionArity::WordsOrNone(1) => return Some((1, arity)),
        PermissionArity::Words(count) | PermissionArity::WordsOrNone(count) => count,
    };
    let end = first - 1 + count;
    // `npm run` alone is not the same command as `npm run build`.
    if end > argv.len() || (first..end).any(|at| option(&at)) {
        return Some((argv.len(), PermissionArity::Exact));
    }
    Some((end, arity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_say_what_a_command_does() {
        for (line, rule) in [
            ("git checkout main", "git checkout:*"),
            ("git -C sub status -s", "git -C sub status:*"),
            ("git --no-pager log -3", "git --no-pager log:*"),
            ("git stash pop", "git stash pop:*"),
            ("git stash", "git stash"),
            ("git --version", "git --version"),
            ("npm run build", "npm run build:*"),
            ("npm run", "npm run"),
            ("npm test", "npm test:*"),
            ("make", "make:*"),
            ("make test", "make test:*"),
            ("find . -name x", "find . -name x"),
            ("find . -exec wc {} +", ""),
            ("npm --prefix app run build", "npm --prefix app run build"),
            ("docker compose up -d", "docker compose up:*"),
            ("docker ps", "docker ps:*"),
            ("kubectl -n x get pods", "kubectl -n x get pods"),
            ("cargo test --lib", "cargo test:*"),
            ("ls -la", "ls:*"),
            ("ls", "ls:*"),
            ("./gradlew build", "./gradlew build:*"),
            ("unheard-of x", "unheard-of:*"),
            ("rm -f x", "rm -f x"),
            ("kill 12345", "kill:*"),
            ("kill -9 12345", "kill:*"),
            ("python x.py", ""),
            ("python3.12 x.py", ""),
            ("docker run img", ""),
            ("docker -H x run img", ""),
            ("uv run x", ""),
            ("uv sync", "uv sync:*"),
        ] {
            let argv: Vec<(&str, bool)> = line.split(' ').map(|word| (word, true)).collect();
            let made = match permission_arity(&argv) {
                Some((_, PermissionArity::Never)) | None => String::new(),
                Some((count, arity)) => {
                    let words: Vec<&str> = argv[..count].iter().map(|(word, _)| *word).collect();
                    format!("{}{}", words.join(" "), if arity == PermissionArity::Exact { "" } else { ":*" })
                }
            };
            assert_eq!(made, rule, "{line}");
        }
    }
}
