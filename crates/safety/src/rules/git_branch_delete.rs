//! Deleting a branch that is not merged.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::git_call::GitCall;
use super::support::quote;
use crate::programs::git::BRANCH;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;

pub static RULE: SafetyRule = SafetyRule {
    id: "git-branch-delete",
    level: SafetyVerdict::Ask,
    doc: "Deletes a branch, whose commits may be on no other branch. `git branch -d` deletes only what is merged.",
    programs: RulePrograms::Named(&["git", "git.exe"]),
    check,
    matches: &[
        "git branch -D old",
        "git branch old -D",
        "git branch -qD old",
        "git branch -d -f old",
        "git branch -df old",
        "git branch --delete --force old",
        "git branch --del --forc old",
        "git branch -Dr origin/old",
        "git branch -D a b c",
        "git -C sub branch -D old",
    ],
    passes: &[
        "git branch -d old",
        "git branch --delete old",
        "git branch",
        "git branch new",
        "git branch -a",
        "git branch -f new HEAD~1",
        "git branch -m old new",
        "git branch --show-current",
        "git branch -vv --sort -committerdate",
        "git branch --help",
        "git branch -- -D",
        "git branch -u origin/main",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let git = GitCall::of(command, &["branch"])?;
    let parsed = git.parse(&BRANCH);
    let forced = parsed.last("f force no-force").is_some_and(|last| last.name != "no-force");
    if !(parsed.has("D") || parsed.has("d delete") && forced) {
        return None;
    }
    let names = quote::line(git.operands(&parsed)).filter(|line| !line.is_empty() && !line.starts_with('-'));
    let remote = if parsed.has("r remotes") { " -r" } else { "" };
    Some(RuleHit::exact(
        "git branch -D deletes a branch even if its commits are nowhere else. Use git branch -d, which deletes only what is merged",
        git.line(&names.map_or_else(|| "branch --no-merged".to_owned(), |names| format!("branch -d{remote} {names}"))),
    ))
}
