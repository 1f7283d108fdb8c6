//! Commands that delete what git could restore commits from.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::git_call::GitCall;
use crate::programs::git::{FILTER_REPO, REFLOG, UPDATE_REF};
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;
use crate::word_value::WordValue;

pub static RULE: SafetyRule = SafetyRule {
    id: "git-rewrite-history",
    level: SafetyVerdict::Ask,
    doc: "Rewrites all of a history, deletes references, or deletes the log that lost commits are found by.",
    programs: RulePrograms::Named(&["git", "git.exe", "git-filter-repo"]),
    check,
    matches: &[
        "git update-ref -d refs/heads/main",
        "git update-ref --no-deref -d HEAD",
        "git update-ref -m reason -d refs/heads/x",
        "git for-each-ref --format='delete %(refname)' refs/heads | git update-ref --stdin",
        "git reflog expire --expire=now --all",
        "git reflog expire",
        "git reflog delete HEAD@{1}",
        "git filter-branch --force --index-filter 'git rm x' HEAD",
        "git filter-branch -f",
        "git filter-repo --path secrets --invert-paths",
        "git-filter-repo --path x",
        "git -C sub filter-branch",
    ],
    passes: &[
        "git reflog",
        "git reflog show",
        "git reflog -n 5",
        "git reflog exists refs/heads/x",
        "git reflog expire --dry-run --all",
        "git reflog expire -n",
        "git update-ref refs/heads/x HEAD",
        "git filter-repo --analyze",
        "git filter-repo --dry-run --path x",
        "git filter-repo --help",
        "git filter-branch --help",
        "git log --all",
        "git commit --amend --no-edit",
        "git rebase main",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    if command.name() == Some("git-filter-repo") {
        let parsed = crate::options::parse(command.args(), &FILTER_REPO);
        return (!parsed.has("dry-run analyze help h version")).then(|| filtered("git filter-repo --analyze"));
    }
    let git = GitCall::of(command, &["update-ref", "reflog", "filter-branch", "filter-repo"])?;
    match git.sub {
        "update-ref" => (git.parse(&UPDATE_REF).has("d delete") || deletes_by_input(command, &git)).then(|| {
            RuleHit::exact(
                "git update-ref -d deletes a reference without any check. Use git branch -d, which deletes only what is merged",
                git.line("show-ref"),
            )
        }),
        "reflog" => {
            let (action, _) = git.args.split_first()?;
            let parsed = git.parse(&REFLOG);
            let dry = parsed.last("n dry-run no-dry-run").is_some_and(|last| last.name != "no-dry-run");
            (matches!(action.known(), Some("expire" | "delete")) && !dry).then(|| {
                RuleHit::exact(
                    "this deletes the reflog, by which lost commits are found again. Use git reflog expire --dry-run to see what would go",
                    git.line("reflog expire --dry-run"),
                )
            })
        }
        "filter-branch" => Some(filtered(&git.line("log --oneline -n 20"))),
        _ => {
            let dry = git.parse(&FILTER_REPO).has("dry-run analyze version");
            (!dry).then(|| filtered(&git.line("filter-repo --analyze")))
        }
    }
}

/// `git for-each-ref --format='delete %(refname)' | git update-ref --stdin`
fn deletes_by_input(command: &SimpleCommandView, git: &GitCall) -> bool {
    let by_input = git.parse(&UPDATE_REF).has("stdin");
    by_input && command.input.text().and_then(WordValue::known).is_none_or(|text| text.contains("delete"))
}

fn filtered(instead: &str) -> RuleHit {
    RuleHit::exact(
        "this rewrites every commit of the history, and everybody else's clone no longer fits. Ask first, and do it in a fresh clone",
        instead,
    )
}
