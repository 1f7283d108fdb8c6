//! Deleting branches and tags on the remote.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::git_call::GitCall;
use super::support::quote;
use crate::options::ParsedArguments;
use crate::programs::git::PUSH;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;

pub static RULE: SafetyRule = SafetyRule {
    id: "git-delete-remote",
    level: SafetyVerdict::Ask,
    doc: "Deletes branches or tags on the remote, for everybody. A dry run says which.",
    programs: RulePrograms::Named(&["git", "git.exe"]),
    check,
    matches: &[
        "git push origin :main",
        "git push origin :refs/heads/main",
        "git push origin +:main",
        "git push -d origin main",
        "git push --delete origin main",
        "git push --del origin v1",
        "git push origin --delete main",
        "git push origin -d a b",
        "git push --mirror",
        "git push --mirror origin",
        "git push --prune origin",
        "git push -ud origin main",
        "git -C sub push origin :main",
    ],
    passes: &[
        "git push origin main",
        "git push origin main:other",
        "git push origin HEAD:main",
        "git push origin :",
        "git push --dry-run --delete origin main",
        "git push -n --mirror",
        "git push --mirror --no-mirror origin",
        "git push origin -- main",
        "git push --tags",
        "git push ssh://host:22/repo main",
        "git push --help",
        "git fetch --prune",
        "git branch -d main",
        "git remote prune origin",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let git = GitCall::of(command, &["push"])?;
    let parsed = git.parse(&PUSH);
    let on = |names: &str| parsed.last(names).is_some_and(|last| !last.name.starts_with("no-"));
    if on("n dry-run no-dry-run") {
        return None;
    }
    let empty = git.operands(&parsed).skip(1).any(|operand| {
        let text = operand.prefix();
        let text = text.strip_prefix('+').unwrap_or(text);
        text.starts_with(':') && (text.len() > 1 || operand.has_unknown())
    });
    if !(empty || parsed.has("d delete") || on("mirror no-mirror") || on("prune no-prune")) {
        return None;
    }
    Some(RuleHit::exact(
        "this git push deletes branches or tags on the remote, for everybody. Use git push --dry-run to see which, and ask before deleting them",
        instead(&git, &parsed),
    ))
}

/// Returns the same push as a dry run.
fn instead(git: &GitCall, parsed: &ParsedArguments) -> String {
    let plain = git.line("push --dry-run");
    if parsed.dashes.is_some() {
        return plain;
    }
    match quote::line(git.args.iter()).filter(|line| !line.is_empty()) {
        Some(line) => format!("{plain} {line}"),
        None => plain,
    }
}
