//! Removing a work tree by force.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::git_call::GitCall;
use super::support::quote;
use crate::options::parse;
use crate::programs::git::WORKTREE_REMOVE;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;

pub static RULE: SafetyRule = SafetyRule {
    id: "git-worktree-remove",
    level: SafetyVerdict::Ask,
    doc: "Deletes a work tree together with changes in it that are not committed. Without -f git refuses to do that.",
    programs: RulePrograms::Named(&["git", "git.exe"]),
    check,
    matches: &[
        "git worktree remove -f ../x",
        "git worktree remove --force ../x",
        "git worktree remove ../x --force",
        "git worktree remove --forc ../x",
        "git worktree remove -ff ../x",
        "git -C sub worktree remove -f x",
    ],
    passes: &[
        "git worktree remove ../x",
        "git worktree add -f ../x",
        "git worktree list",
        "git worktree prune",
        "git worktree remove -- -f",
        "git worktree remove --help",
        "git worktree remove --force --no-force x",
        "git worktree move a b",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let git = GitCall::of(command, &["worktree"])?;
    let (action, args) = git.args.split_first()?;
    if action.known() != Some("remove") {
        return None;
    }
    let parsed = parse(args, &WORKTREE_REMOVE);
    if parsed.last("f force no-force").is_none_or(|last| last.name == "no-force") {
        return None;
    }
    let trees = quote::line(parsed.operands.iter().filter_map(|at| args.get(*at))).filter(|line| !line.is_empty());
    Some(RuleHit::exact(
        "git worktree remove -f deletes a work tree together with changes that are not committed. Leave out -f: git then refuses where something would be lost",
        git.line(&trees.map_or_else(|| "worktree list".to_owned(), |trees| format!("worktree remove {trees}"))),
    ))
}
