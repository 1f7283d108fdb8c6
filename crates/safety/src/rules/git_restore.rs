//! `git restore` of the work tree.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::git_call::GitCall;
use super::support::quote;
use crate::programs::git::RESTORE;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;

pub static RULE: SafetyRule = SafetyRule {
    id: "git-restore",
    level: SafetyVerdict::Ask,
    doc: "Overwrites files with an older state. Changes that were not committed are lost. With --staged alone \
          it only unstages, which is harmless.",
    programs: RulePrograms::Named(&["git", "git.exe"]),
    check,
    matches: &[
        "git restore .",
        "git restore src/a.ts",
        "git restore -- src/a.ts",
        "git restore --worktree .",
        "git restore --staged --worktree .",
        "git restore -SW .",
        "git restore --source HEAD~1 src",
        "git restore -s main .",
        "git restore --source=main --staged --worktree .",
        "git restore --pathspec-from-file=list",
        "git -C sub restore .",
    ],
    passes: &[
        "git restore --staged .",
        "git restore -S src/a.ts",
        "git restore --stag src/a.ts",
        "git restore --staged --source HEAD~1 src/a.ts",
        "git restore -p",
        "git restore --patch src/a.ts",
        "git restore --help",
        "git restore",
        "git commit -m 'git restore .'",
        "pg_restore .",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let git = GitCall::of(command, &["restore"])?;
    let parsed = git.parse(&RESTORE);
    let last = |names: &str| parsed.last(names).is_some_and(|last| !last.name.starts_with("no-"));
    let staged = last("S staged no-staged");
    let worktree = last("W worktree no-worktree");
    let nothing = parsed.operands.is_empty() && !parsed.has("pathspec-from-file");
    if parsed.has("p patch") || staged && !worktree || nothing {
        return None;
    }
    let line = quote::line(git.operands(&parsed)).filter(|line| !line.is_empty());
    Some(RuleHit::exact(
        "git restore throws away what was changed in files and not committed. Use git stash push to put the changes aside, or git restore --staged only to unstage",
        line.map_or_else(|| git.line("stash"), |line| git.line(&format!("stash push -- {line}"))),
    ))
}
