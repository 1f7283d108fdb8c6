//! `git checkout` of files: their changes are lost.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::git_call::GitCall;
use super::support::quote;
use crate::options::ParsedArguments;
use crate::programs::git::{CHECKOUT, CHECKOUT_INDEX};
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;
use crate::word_value::WordValue;

pub static RULE: SafetyRule = SafetyRule {
    id: "git-checkout-paths",
    level: SafetyVerdict::Ask,
    doc: "Overwrites files with an older state. Changes that were not committed are lost. Another branch is \
          checked out without paths.",
    programs: RulePrograms::Named(&["git", "git.exe"]),
    check,
    matches: &[
        "git checkout .",
        "git checkout -- .",
        "git checkout -- src/a.ts",
        "git checkout HEAD -- src",
        "git checkout main -- src/a.ts",
        "git checkout main src/a.ts",
        "git checkout HEAD .",
        "git checkout ./src",
        "git checkout src/",
        "git checkout *.ts",
        "git checkout '*.ts'",
        "git checkout :/",
        "git checkout -q -- .",
        "git checkout --theirs src/a.ts",
        "git checkout --pathspec-from-file=list",
        "git checkout package-lock.json",
        "git checkout .env",
        "git checkout Makefile",
        "git -C sub checkout .",
        "git checkout-index -fa",
    ],
    passes: &[
        "git checkout main",
        "git checkout -b feature",
        "git checkout -b feature origin/main",
        "git checkout -B feature origin/main",
        "git checkout --track origin/feature",
        "git checkout -t origin/feature",
        "git checkout feature/login",
        "git checkout v1.2.3",
        "git checkout release-2.x",
        "git checkout -",
        "git checkout HEAD~2",
        "git checkout --detach main",
        "git checkout --orphan gh-pages",
        "git checkout main --",
        "git checkout -p",
        "git checkout -p -- src/a.ts",
        "git checkout --help",
        "git commit -m 'git checkout -- .'",
        "svn checkout url src",
    ],
};

/// Names of files without an ending.
static NAMES: &[&str] =
    &["Makefile", "Dockerfile", "Gemfile", "Rakefile", "Procfile", "Vagrantfile", "Justfile", "LICENSE", "README"];

/// Endings that names of files have. Names of branches hardly ever have them.
static ENDINGS: &[&str] = &[
    ".c", ".cc", ".cfg", ".conf", ".cpp", ".cs", ".css", ".csv", ".go", ".h", ".hpp", ".html", ".ini", ".java", ".js",
    ".json", ".jsx", ".kt", ".lock", ".lua", ".md", ".mjs", ".php", ".py", ".rb", ".rs", ".scss", ".sh", ".sql",
    ".svg", ".swift", ".toml", ".ts", ".tsx", ".txt", ".vue", ".xml", ".yaml", ".yml",
];

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let git = GitCall::of(command, &["checkout", "checkout-index"])?;
    if git.sub == "checkout-index" {
        let parsed = git.parse(&CHECKOUT_INDEX);
        return (parsed.has("f force") && !parsed.has("prefix")).then(|| hit(&git, &[]));
    }
    let parsed = git.parse(&CHECKOUT);
    if parsed.has("p patch b B orphan d detach t track") {
        return None;
    }
    if parsed.has("pathspec-from-file") {
        return Some(hit(&git, &[]));
    }
    let (paths, sure) = paths(&git, &parsed)?;
    let hit = hit(&git, &paths);
    Some(if sure { hit } else { hit.partial() })
}

/// Returns the operands that are files, and whether this is certain.
fn paths<'a>(git: &'a GitCall, parsed: &'a ParsedArguments) -> Option<(Vec<&'a WordValue>, bool)> {
    let operands: Vec<&WordValue> = git.operands(parsed).collect();
    if let Some(dashes) = parsed.dashes {
        let before = parsed.operands.iter().filter(|at| **at < dashes).count();
        let paths = operands[before..].to_vec();
        return (!paths.is_empty()).then_some((paths, true));
    }
    match operands.as_slice() {
        [] => None,
        [one] if is_path(one) => Some((vec![one], true)),
        // A branch may have such a name, but this is rare.
        [one] => one.known().is_some_and(looks_like_file).then(|| (vec![*one], false)),
        [first, _, ..] if is_path(first) => Some((operands, true)),
        [_, paths @ ..] => {
            let known = paths.iter().any(|path| !path.prefix().is_empty() || path.has_glob());
            known.then(|| (paths.to_vec(), true))
        }
    }
}

fn looks_like_file(text: &str) -> bool {
    ENDINGS.iter().any(|end| text.ends_with(end)) || NAMES.contains(&text.rsplit('/').next().unwrap_or(text))
}

/// Returns whether a word is written as no branch can be.
fn is_path(word: &WordValue) -> bool {
    let text = word.prefix();
    word.has_glob()
        || text.starts_with(['/', ':'])
        // No part of a branch name begins with a dot.
        || text.starts_with('.')
        || text.contains("/.")
        || word.known().is_some_and(|text| text.ends_with('/') || text.contains(['*', '?', '[']))
}

fn hit(git: &GitCall, paths: &[&WordValue]) -> RuleHit {
    let line = quote::line(paths.iter().copied()).filter(|line| !line.is_empty());
    RuleHit::exact(
        "git checkout of files throws away what was changed in them and not committed. Use git stash push to put the changes aside, or git diff to look at them first",
        line.map_or_else(|| git.line("stash"), |line| git.line(&format!("stash push -- {line}"))),
    )
}
