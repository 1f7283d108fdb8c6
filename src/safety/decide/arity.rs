//! How many words of a command a rule for it has.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::matching::{base_name, git_command};
use crate::safety::tables::arity::{ALONE, ARITIES, Arity, VERSIONED};

static BY_WORDS: LazyLock<HashMap<&str, Arity>> = LazyLock::new(|| ARITIES.iter().copied().collect());

/// The most words that an entry of the table has.
const MAX_WORDS: usize = 3;

/// How many of a command's first words make a rule for it, and of which kind.
pub fn words(argv: &[(&str, bool)]) -> Option<(usize, Arity)> {
    let head = base_name(argv.first()?.0);
    let unversioned = head.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    if head != unversioned && VERSIONED.contains(&unversioned) {
        return Some((1, Arity::Never));
    }
    let exact = (argv.len(), Arity::Exact);
    // Behind git's own options; whether those of others have values is not known, and then only the same words will do.
    let first = git_command(argv).unwrap_or(1);
    let option = |at: &usize| argv[*at].0.starts_with('-');
    let operands: Vec<usize> = (first..argv.len()).filter(|at| !option(at)).take(MAX_WORDS).collect();
    let mut key = head.to_owned();
    let mut found = BY_WORDS.get(head).copied().unwrap_or(Arity::Words(1));
    for at in &operands {
        key = format!("{key} {}", argv[*at].0);
        found = BY_WORDS.get(key.as_str()).copied().unwrap_or(found);
    }
    // `docker -H x run`: whatever stands between, it runs what it is given.
    let runs = |at: &usize| BY_WORDS.get(format!("{head} {}", argv[*at].0).as_str()) == Some(&Arity::Never);
    if operands.iter().any(runs) {
        return Some((1, Arity::Never));
    }
    // Then it is a wrapper.
    let execs = |(word, _): &(&str, bool)| matches!(*word, "-exec" | "-execdir" | "-ok" | "-okdir");
    if matches!(head, "find" | "gfind") && argv.iter().any(execs) {
        return Some((1, Arity::Never));
    }
    let Arity::Words(count) = found else { return Some((argv.len(), found)) };
    // `make` alone makes what comes first.
    if argv.len() == 1 && ALONE.contains(&head) {
        return Some((1, found));
    }
    let end = first - 1 + count;
    // `npm run` alone is something else than `npm run build`.
    if count > 1 && (end > argv.len() || (first..end).any(|at| option(&at))) {
        return Some(exact);
    }
    Some((if count > 1 { end } else { 1 }, found))
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
            ("python x.py", ""),
            ("python3.12 x.py", ""),
            ("docker run img", ""),
            ("docker -H x run img", ""),
            ("uv run x", ""),
            ("uv sync", "uv sync:*"),
        ] {
            let argv: Vec<(&str, bool)> = line.split(' ').map(|word| (word, true)).collect();
            let made = match words(&argv) {
                Some((_, Arity::Never)) | None => String::new(),
                Some((count, arity)) => {
                    let words: Vec<&str> = argv[..count].iter().map(|(word, _)| *word).collect();
                    format!("{}{}", words.join(" "), if arity == Arity::Exact { "" } else { ":*" })
                }
            };
            assert_eq!(made, rule, "{line}");
        }
    }
}
