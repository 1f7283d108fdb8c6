//! `git reset --hard`.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::git_call::GitCall;
use crate::programs::git::RESET;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;

pub static RULE: SafetyRule = SafetyRule {
    id: "git-reset-hard",
    level: SafetyVerdict::Ask,
    doc: "Throws away every change that is not committed; git keeps no copy of them. `git stash` puts them aside first.",
    programs: RulePrograms::Named(&["git", "git.exe"]),
    check,
    matches: &[
        "git reset --hard",
        "git reset --hard HEAD~1",
        "git reset HEAD~1 --hard",
        "git read-tree -u --reset HEAD",
        "git reset --har",
        "git reset --h origin/main",
        "git reset -q --hard",
        "git reset --soft --hard",
        "git -C sub reset --hard",
        "git --no-pager reset --hard origin/main",
        "git -c alias.undo='reset --hard' undo",
    ],
    passes: &[
        "git reset",
        "git reset HEAD~1",
        "git reset --soft HEAD~1",
        "git read-tree -m -u HEAD",
        "git reset --mixed",
        "git reset --hard --soft HEAD~1",
        "git reset HEAD src/a.ts",
        "git reset -- --hard",
        "git reset --keep HEAD~1",
        "git reset --help",
        "git add reset --hard",
        "my-git reset --hard",
        "git commit -m 'git reset --hard'",
        "git log --grep 'reset --hard'",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let git = GitCall::of(command, &["reset", "read-tree"])?;
    if git.sub == "read-tree" {
        let has = |option: &str| git.args.iter().any(|arg| arg.known() == Some(option));
        return (has("--reset") && has("-u")).then(|| hit(&git, "git read-tree --reset -u"));
    }
    let parsed = git.parse(&RESET);
    let mode = parsed.last("hard soft mixed merge keep")?;
    if mode.name != "hard" {
        return None;
    }
    Some(hit(&git, "git reset --hard"))
}

fn hit(git: &GitCall, what: &str) -> RuleHit {
    RuleHit::exact(
        format!(
            "{what} throws away all changes that are not committed. Use git stash to put them aside, or git reset without --hard to keep them"
        ),
        git.line("stash"),
    )
}
